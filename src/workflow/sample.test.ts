import { describe, expect, it } from 'vitest'
import type { Sample, SampleModel } from '../engine/contract.js'
import type { Tokenizer } from '../model/index.js'
import { sampleAnswers } from './sample.js'

const END = 0
/** Tokens of several characters: a stop string may begin and end within one. */
function words(all: readonly string[]): Tokenizer {
  const text = (ids: ArrayLike<number>, skip: boolean) =>
    Array.from(ids, (id) => (id === END ? (skip ? '' : '<end>') : all[id - 1])).join('')
  return {
    decode: (ids: ArrayLike<number>, { skipSpecial = true } = {}) => text(ids, skipSpecial),
    isSpecial: (id: number) => id === END,
  } as unknown as Tokenizer
}

/** What becomes of tokens that a stop string, or the end token, ended. */
async function answerOf(all: readonly string[], stoppedBy?: string, keepStop = false) {
  const tokens = Int32Array.from(all, (word, i) => (word === '<end>' ? END : i + 1))
  const sample = { tokens, logprobs: new Float32Array(tokens.length), finish: 'stop', stoppedBy, versions: [] }
  const sampler: Pick<SampleModel, 'sample'> = { sample: async () => [sample as unknown as Sample] }
  const request = { prompt: Int32Array.of(1), n: 1, params: { temperature: 1, maxTokens: 9 } }
  const [{ text, raw, recorded, seen }] = await sampleAnswers(sampler, words(all), request, { deadlineMs: 1, keepStop })
  expect(recorded).toBe(all.join(''))
  return { text, raw, seen }
}

describe('an answer', () => {
  it('that ended by itself is seen as it is', async () => {
    expect(await answerOf(['yes', '.', '<end>'])).toEqual({ text: 'yes.', raw: 'yes.' })
    // the stop string is the end token
    expect(await answerOf(['yes', '<end>'], '<end>')).toEqual({ text: 'yes', raw: 'yes' })
  })

  it.each([
    [['yes', '\n', 'Obs:'], '\nObs:', 'yes', { tokens: 1, text: 3 }],
    [['yes', '\nObs', ': x'], '\nObs:', 'yes', { tokens: 1, text: 3 }],
    // it begins within a token: what is before it there is tokenized anew
    [['yes', ' so\nObs', ':'], '\nObs:', 'yes so', { tokens: 1, text: 3 }],
    [['yes\nObs:'], '\nObs:', 'yes', { tokens: 0, text: 0 }],
    // the first that the last token completes; an earlier one was allowed to pass
    [['a\n', 'b', '\n\n'], '\n', 'a\nb', { tokens: 2, text: 3 }],
    [['<end>', 'yes', 'STOP'], 'STOP', 'yes', { tokens: 2, text: 8 }],
  ])('%j that %j ended is seen up to it', async (all, stop, text, seen) => {
    const raw = all[0] === '<end>' ? `<end>${text}` : text
    expect(await answerOf(all, stop)).toEqual({ text, raw, seen })
  })

  it('may show its stop string, but not what came behind it', async () => {
    expect(await answerOf(['yes', '\nObs', ': x'], '\nObs:', true)).toEqual({
      ...{ text: 'yes\nObs:', raw: 'yes\nObs:' },
      seen: { tokens: 2, text: 7 },
    })
    expect(await answerOf(['yes', '\nObs:'], '\nObs:', true)).toEqual({ text: 'yes\nObs:', raw: 'yes\nObs:' })
  })
})
