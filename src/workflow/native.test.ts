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
})
