import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { asking } from './asking.js'

function terminal() {
  const input = new PassThrough()
  const output = new PassThrough()
  return { where: { input, output, terminal: true }, input, said: () => String(output.read() ?? '') }
}

it('gives what was typed, to one question after the other', async () => {
  const { where, input, said } = terminal()
  const answers = asking('nothing was done', async (ask) => [await ask('One? '), await ask('Two? ')], where)
  input.write('1\n')
  setTimeout(() => input.write('2\n'), 20)
  expect(await answers).toEqual(['1', '2'])
  expect(said()).toContain('Two? ')
})

it.each([
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
])('%s at a question ends the command, and says what was not done', async (_, key) => {
  const { where, input } = terminal()
  const answer = asking('nothing was done', (ask) => ask('One? '), where)
  input.write(key)
  await expect(answer).rejects.toMatchObject({ code: 'cli/interrupted', message: 'nothing was done' })
})
