import { describe, expect, it } from 'vitest'
import { modelOf, text } from '../../test/support/workflow-kit.js'
import type { OnToken, Sample, SampleModel, SampleRequest } from '../engine/contract.js'
import { rejoined } from './cut-sample.js'

const { tokenizer } = text
const END = '<|end|>'
const READ = { skipSpecial: false }

/** Says a text and is cut by new weights after each so many tokens, whatever it is asked to go on from. */
class Cut {
  readonly info = { vocabSize: tokenizer.vocabSize, maxModelLen: 4096 }
  version = 0
  readonly requests: SampleRequest[] = []
  readonly #says: readonly string[]
  readonly #every: number

  constructor(says: readonly string[], every: number) {
    this.#says = says
    this.#every = every
  }

  async sample(request: SampleRequest, _call: unknown, onToken?: OnToken): Promise<Sample[]> {
    this.requests.push(request)
    const begun = tokenizer.decode(request.prompt, READ).split('<|assistant|>').at(-1)!
    const says = begun === '' ? this.#says : this.#says.filter((one) => one.startsWith(begun))
    const version = this.version++
    return says.slice(0, request.n).map((say, index) => {
      const left = tokenizer.encode(say.slice(begun.length) + END)
      const tokens = left.slice(0, this.#every)
      const logprobs = Float32Array.from(tokens, (_, i) => -(i + 1))
      for (const [i, token] of tokens.entries()) onToken?.(index, token, logprobs[i])
      const finish = tokens.length < left.length ? 'abort' : 'stop'
      return { tokens, logprobs, finish, versions: [{ version, from: 0 }], cachedTokens: 0 }
    })
  }
}

const MESSAGES = [{ role: 'user', content: '?' }]
const modelWith = (cut: Cut) => modelOf(cut as unknown as SampleModel)

describe('an answer that new weights cut off', () => {
  it('goes on from its tokens; who reads along sees each once', async () => {
    const cut = new Cut(['hello there', 'hi'], 4)
    const seen = ['', '']
    const answers = await modelWith(cut).chat(MESSAGES, { n: 2, max_tokens: 20 }, (index, token) => {
      seen[index] += tokenizer.decode([token], READ)
    })
    expect(answers.map(({ responseText }) => responseText)).toEqual(['hello there', 'hi'])
    expect(seen).toEqual([`hello there${END}`, `hi${END}`])
    expect([...answers[0].logprobs!]).toEqual([-1, -2, -3, -4, -1, -2, -3, -4, -1, -2, -3, -4])
    expect(answers[0].versions).toEqual([
      { version: 0, from: 0 },
      { version: 1, from: 4 },
      { version: 2, from: 8 },
    ])
    expect(cut.requests.map(({ n, params }) => [n, params.maxTokens])).toEqual([
      [2, 20],
      [1, 16],
      [1, 12],
    ])
    expect(new Set(cut.requests.map(({ params }) => params.seed)).size).toBe(3)
  })

  it('is sampled anew where what came before would count otherwise and nobody reads along', async () => {
    const cut = new Cut(['hello'], 4)
    await expect(modelWith(cut).chat(MESSAGES, { stop: 'x' })).rejects.toMatchObject({ code: 'engine/aborted' })
    expect(new Set(cut.requests.map(({ prompt }) => prompt.length)).size).toBe(1)
  })

  it('keeps the log-probs of what was drawn where only one part has them', () => {
    const part = (given: Partial<Sample>): Sample => ({
      ...{ tokens: Int32Array.of(1), logprobs: Float32Array.of(-1), finish: 'abort', versions: [], cachedTokens: 0 },
      ...given,
    })
    const { drawnLogprobs } = rejoined(part({}), part({ drawnLogprobs: Float32Array.of(-2), finish: 'stop' }))
    expect([...drawnLogprobs!]).toEqual([-1, -2])
    expect(rejoined(part({}), part({})).drawnLogprobs).toBeUndefined()
  })
})
