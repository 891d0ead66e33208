import { afterAll, describe, expect, it } from 'vitest'
import { torchTestPython } from '../../../test/support/python.js'
import { fixture } from '../../../test/support/test-data.js'
import { maskWords } from '../allowed-tokens.js'
import type { AllowedTokens, Call, Engine, SamplingParams } from '../contract.js'
import { NativeEngine } from '../native/engine.js'
import { TorchEngine } from './engine.js'

const python = torchTestPython()
const ANSWER = [30, 30, 12, 30, 8]
let seq = 0
const call = (signal?: AbortSignal): Call => ({ seq: ++seq, deadlineMs: 120_000, signal })

describe.skipIf(python.absent)(`bias, penalties and masks on torch${python.note}`, () => {
  const engines: Engine[] = []
  const open = (engine: Engine) => {
    engines.push(engine)
    return engine.openSample({ path: fixture('tiny-llama'), seed: 1 }, call())
  }
  const models = {
    native: open(new NativeEngine()),
    torch: open(new TorchEngine({ python: python.path, device: 'cpu' })),
  }
  // where Python is missing nothing is asked of them
  for (const model of Object.values(models)) model.catch(() => {})
  afterAll(() => Promise.all(engines.map((engine) => engine.close())))

  /** The log-probs, of the model and of what was drawn from, of the tokens that were drawn after ANSWER. */
  async function after(name: keyof typeof models, params: Partial<SamplingParams>) {
    const model = await models[name]
    const allowed: AllowedTokens = (_, made) => {
      if (made.length >= ANSWER.length) return undefined
      const mask = new Uint32Array(maskWords(model.info.vocabSize))
      mask[ANSWER[made.length] >> 5] = 1 << (ANSWER[made.length] & 31)
      return mask
    }
    const wish = { temperature: 1, maxTokens: 6, ignoreEos: true, seed: 3, ...params }
    const samples = await model.sample({ prompt: Int32Array.of(56, 15, 8), n: 200, params: wish, allowed }, call())
    for (const { tokens } of samples) expect([...tokens.slice(0, 5)]).toEqual(ANSWER)
    return new Map(samples.map((one) => [one.tokens[5], [one.logprobs[5], one.drawnLogprobs![5]]]))
  }

  it.each<Partial<SamplingParams>>([
    { logitBias: { 3: 2.5, 30: -1, 41: -100 } },
    { presencePenalty: 1.5, temperature: 0.7 },
    { frequencyPenalty: -0.75 },
    { repetitionPenalty: 1.3, frequencyPenalty: 0.25, presencePenalty: 0.5, logitBias: { 30: 2 }, topK: 40 },
  ])(
    'means what it means on the native engine: %o',
    async (params) => {
      const [native, torch] = await Promise.all([after('native', params), after('torch', params)])
      const common = [...native].filter(([token]) => torch.has(token))
      expect(common.length).toBeGreaterThan(10)
      for (const [token, [logprob, drawn]] of common) {
        const [other, otherDrawn] = torch.get(token)!
        expect(Math.abs(logprob - other)).toBeLessThan(2e-5)
        expect(Math.abs(drawn - otherDrawn)).toBeLessThan(2e-5)
      }
    },
    120_000,
  )

  it('ends with what a mask throws, with what it had when aborted, and goes on with others', async () => {
    const model = await models.torch
    const ask = (allowed: AllowedTokens, signal?: AbortSignal) =>
      model.sample(
        { prompt: Int32Array.of(3), n: 2, params: { temperature: 1, maxTokens: 9, ignoreEos: true }, allowed },
        call(signal),
      )
    await expect(
      ask((_, made) => {
        if (made.length === 2) throw new Error('grammar')
        return undefined
      }),
    ).rejects.toThrow('grammar')
    await expect(ask(() => new Uint32Array(1))).rejects.toMatchObject({ code: 'engine/bad-mask' })
    await expect(ask(() => new Uint32Array(maskWords(model.info.vocabSize)))).rejects.toMatchObject({
      code: 'engine/no-token',
    })
    const control = new AbortController()
    const cut = await ask((_, made) => {
      if (made.length === 3) control.abort()
      return undefined
    }, control.signal)
    expect(cut.map(({ finish }) => finish)).toEqual(['abort', 'abort'])
    expect(cut[0].tokens.length).toBeGreaterThanOrEqual(3)
  }, 120_000)
})
