import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { modelOf } from '../../test/support/workflow-kit.js'
import type { SampleModel } from '../engine/contract.js'
import { NativeEngine } from '../engine/native/engine.js'
import { createModel } from '../model/index.js'
import { type ModelText, openModelText } from './text.js'

describe('a conversation with a transformer on the native engine', () => {
  const engine = new NativeEngine()
  let dir: string
  let sampler: SampleModel
  let text: ModelText
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'trinity-native-'))
    await createModel({ out: join(dir, 'm'), layers: 2, hidden: 32, heads: 2, maxPositions: 512, seed: 3 })
    text = await openModelText(join(dir, 'm'))
    sampler = await engine.openSample({ path: join(dir, 'm'), seed: 1 }, { seq: 1, deadlineMs: 60_000 })
  })
  afterAll(async () => {
    await engine.close()
    await rm(dir, { recursive: true, force: true })
  })

  const talk = async () => {
    const model = modelOf(sampler, { text, limits: { maxModelLen: 512, maxResponseTokens: 12 } })
    const messages: { role: string; content: string }[] = []
    for (const content of ['first', 'and then?', 'and at last?']) {
      messages.push({ role: 'user', content })
      const [answer] = await model.chat(messages, { temperature: 0.8 })
      messages.push({ role: 'assistant', content: answer.responseText ?? '' })
    }
    return model
  }

  it('holds the log-probs that the model gives to these very tokens', async () => {
    const model = await talk()
    const whole = model.toExperience()
    const scores = await model.logprobs(whole.tokens, { temperature: whole.temperature })
    let checked = 0
    for (let i = 0; i < whole.actionMask.length; i++) {
      if (!whole.actionMask[i]) continue
      expect(Math.abs(whole.logprobs![i] - scores[whole.promptLength - 1 + i])).toBeLessThan(1e-4)
      checked++
    }
    expect(checked).toBeGreaterThan(10)
    expect(model.stats.divergences).toBe(0)
  })

  it('is the same when it is held again', async () => {
    const [first, second] = [await talk(), await talk()]
    expect([...second.toExperience().tokens]).toEqual([...first.toExperience().tokens])
  })

  it('streams everything up to the stop string', async () => {
    const model = modelOf(sampler, { text, limits: { maxModelLen: 512, maxResponseTokens: 200 } })
    const body = {
      messages: [{ role: 'user', content: 'go' }],
      stop: [...'bcfghjqvwxzBCDEFGH0123456789'],
      ignore_eos: true,
    }
    let said = ''
    for await (const { choices } of await model.openai().chat.completions.create({ ...body, stream: true as const })) {
      said += choices[0]?.delta.content ?? ''
    }
    expect(said).toBe(model.takeHistory()[0].responseText)
    expect(said).not.toMatch(/[bcfghjqvwxzB-H0-9]/)
  })

  it('stops at a stop string, keeps its tokens and goes on behind it', async () => {
    const model = modelOf(sampler, { text, limits: { maxModelLen: 512, maxResponseTokens: 200 } })
    // Random weights say random bytes; some letter comes up before long.
    const [answer] = await model.chat([{ role: 'user', content: 'go' }], {
      stop: [...'bcfghjqvwxzBCDEFGH0123456789'],
      ignore_eos: true,
    })
    expect(answer.truncateStatus).toBeUndefined()
    expect(answer.responseText).not.toMatch(/[bcfghjqvwxzB-H0-9]/)
    expect(text.tokenizer.decode(answer.tokens)).toMatch(/[bcfghjqvwxzB-H0-9]$/)
    const messages = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: answer.responseText! },
      { role: 'user', content: 'on' },
    ]
    await model.chat(messages, { max_tokens: 3, ignore_eos: true })
    expect(model.stats.divergences).toBe(0)
  })

  it('is held to a schema: the policy keeps its log-probs, those of the draw stand beside', async () => {
    const model = modelOf(sampler, { text, limits: { maxModelLen: 512 } })
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string', maxLength: 5 },
        list: { type: 'array', items: { enum: [1, 22] }, maxItems: 2 },
      },
      required: ['name', 'list'],
    }
    const response_format = { type: 'json_schema', json_schema: { schema } } as const
    const answers = await model.chat([{ role: 'user', content: 'go' }], { n: 6, response_format, max_tokens: 200 })
    const whole = answers.filter(({ truncateStatus }) => truncateStatus === undefined)
    expect(whole.length).toBeGreaterThan(3)
    for (const { responseText, tokens, promptLength, logprobs, drawnLogprobs, actionMask } of whole) {
      const { name, list } = JSON.parse(responseText!)
      expect([...name].length).toBeLessThanOrEqual(5)
      expect(list.every((one: number) => one === 1 || one === 22)).toBe(true)
      const scores = (await model.logprobs(tokens)).subarray(promptLength - 1)
      for (const [i, score] of scores.entries()) expect(Math.abs(logprobs![i] - score)).toBeLessThan(1e-4)
      // random weights spread over all bytes; of those that are allowed each is likelier, and one alone is certain
      expect(drawnLogprobs!.every((drawn, i) => drawn >= logprobs![i] - 1e-5)).toBe(true)
      expect(drawnLogprobs![responseText!.indexOf('me":')]).toBeCloseTo(0, 6)
      // what was no choice is not learned: a byte is a token here
      expect([...actionMask].map(Boolean)).toEqual([...drawnLogprobs!].map((drawn) => Math.exp(drawn) < 0.999))
      expect(actionMask[responseText!.indexOf('me":')]).toBe(0)
      expect(actionMask).toContain(1)
    }
    const [cut] = await model.chat([{ role: 'user', content: 'go' }], { response_format, max_tokens: 3 })
    expect(cut).toMatchObject({
      truncateStatus: 'response_truncated',
      responseText: expect.stringMatching(/^\{[\n "]/),
    })
  })

  it('chooses between texts, and refuses what would keep it from ending', async () => {
    const model = modelOf(sampler, { text, limits: { maxModelLen: 512, minResponseTokens: 20 } })
    const answers = await model.generate('color: ', { n: 8, guided_choice: ['red', 'green'] })
    expect(new Set(answers.map(({ responseText }) => responseText))).toEqual(new Set(['red', 'green']))
    // the first letter is a choice, the others follow from it
    for (const { actionMask } of answers) expect([...actionMask].indexOf(1) + [...actionMask].lastIndexOf(1)).toBe(0)
    // the same of a conversation, and of one that is not held to anything
    for (const { actionMask } of model.toExperiences()) expect(actionMask.filter(Boolean)).toHaveLength(1)
    const [free] = await model.generate('color: ', { max_tokens: 5, top_p: 0.01, ignore_eos: true })
    expect(free.actionMask).toEqual(new Uint8Array(5).fill(1))
    await expect(model.generate('color: ', { guided_regex: 'a+', ignore_eos: true })).rejects.toMatchObject({
      path: 'ignore_eos',
    })
  })
})
