import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { root } from '../../test/support/doc-blocks.js'
import { type ChatOptions, chat } from './chat.js'

const model = join(root, 'examples/quickstart/model')

beforeAll(() => void vi.spyOn(process.stderr, 'write').mockReturnValue(true))
afterAll(() => void vi.restoreAllMocks())

async function trinityChat(name: string, words: string[], options: ChatOptions = {}, typed = ''): Promise<string> {
  let written = ''
  const write = (text: string) => {
    written += text
  }
  expect(await chat(name, words, options, { input: Readable.from([typed]), write })).toBe(0)
  return written
}

describe('trinity chat', () => {
  it('answers what it is asked, by a word or through a pipe', async () => {
    const asked = await trinityChat(model, ['Make 22 from', '5, 20, 3'], { temperature: '0' })
    expect(asked).toMatch(/^<answer>.*<\/answer>\n$/)
    expect(await trinityChat(model, [], { temperature: '0' }, 'Make 22 from 5, 20, 3\n')).toBe(asked)
  })

  it('a reply may fill the context, and says so', async () => {
    const text = await trinityChat(model, ['1'.repeat(230)], { temperature: '0', maxTokens: '5000' })
    expect(text).toMatch(/\n\(cut: the context of 128 tokens is full\)\n$/)
  })

  it('compares two models and shows probabilities', async () => {
    const text = await trinityChat(model, ['Make 22 from 5, 20, 3'], { compare: model, probs: '2', temperature: '0' })
    expect(text).toMatch(/<answer>.* {3}<answer>/)
    expect(text.match(/^ {2}[01]\.\d{3} {2}"<answer>"/gm)).toHaveLength(2)
    const behind = await trinityChat(model, [], { probs: 'Make 22 from 5, 20, 3', temperature: '0' })
    expect(behind).toMatch(/^ {2}[01]\.\d{3} {2}"<answer>"/m)
  })

  it.each<[string, string[], ChatOptions, RegExp]>([
    [model, ['x'], { temperature: 'hot' }, /--temperature is 'hot'/],
    [model, ['x'], { maxTokens: '0' }, /--max-tokens is '0'/],
    [model, ['x'], { probs: 'many' }, /--probs is 'many'/],
    [model, ['1'.repeat(300)], {}, /the question does not fit into the context of 128 tokens/],
    [model, ['x'], { probs: '149' }, /--probs is '149'; expected a whole number from 1 to 148/],
    [model, [], {}, /there is no question/],
    [model, ['x'], { set: ['name=other'] }, /--set has no effect on .*model/],
    [join(root, 'src'), ['x'], {}, /there are no weights in/],
    [join(root, 'nowhere.yaml'), ['x'], {}, /no file .*nowhere\.yaml/],
    [join(root, 'examples/two_processes/train.yaml'), ['x'], {}, /has left nothing in/],
  ])('%s %j %j is refused', async (name, words, options, message) => {
    await expect(trinityChat(name, words, options)).rejects.toThrow(message)
  })

  it('asks for a question before it loads a model', async () => {
    await expect(trinityChat('nowhere', [])).rejects.toMatchObject({
      code: 'cli/usage',
      hint: expect.stringContaining('trinity chat nowhere "Hello"'),
    })
    expect(await trinityChat(model, ['x'], { probs: '148', maxTokens: '1' })).toMatch(/^ {2}[01]\.\d{3}/m)
  })
})
