import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { endWithStdin } from './owner.js'

it('ends with its standard input, whatever was written to it', async () => {
  const input = new PassThrough()
  let ended = 0
  endWithStdin(input as unknown as NodeJS.ReadStream, () => void ended++)
  input.write('words')
  await new Promise((done) => setTimeout(done, 10))
  expect(ended).toBe(0)
  input.end()
  await expect.poll(() => ended).toBe(1)
})
