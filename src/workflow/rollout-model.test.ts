import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { modelOf, speaker, text } from '../../test/support/workflow-kit.js'
import { obeyingStops } from '../dialect/dialect.fixture.js'
import { type Experience, responseLength } from '../experience/index.js'
import { type ChatMessage, ChatTemplate } from '../model/index.js'
import { TRUNCATED_NOTICE } from './experiences.js'
import type { RolloutModel } from './rollout-model.js'

const user = (content: string): ChatMessage => ({ role: 'user', content })
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content })
const { tokenizer } = text

describe('RolloutModel.chat', () => {
  it('gives one experience per answer, with the tokens and log-probs that were sampled', async () => {
    const sampler = await speaker(() => ['yes', 'no, never'])
    const model = modelOf(sampler, { defaults: { temperature: 0.5 } })
    const [yes, no] = await model.chat([user('well?')], { n: 2 })
    expect([yes.responseText, no.responseText]).toEqual(['yes', 'no, never'])
    expect(yes.promptText).toBe('<|user|>well?<|end|><|assistant|>')
    expect(tokenizer.decode(no.tokens, { skipSpecial: false })).toBe(`${no.promptText}no, never<|end|>`)
    expect(no.logprobs).toHaveLength(responseLength(no))
    expect([...no.actionMask]).toEqual(Array(10).fill(1))
    expect(no).toMatchObject({ type: 'single_turn', temperature: 0.5, modelVersion: -1 })
    expect(no.truncateStatus).toBeUndefined()
    expect(no.messages?.at(-1)).toEqual(assistant('no, never'))
  })

  it('marks an answer that ran out of room', async () => {
    const model = modelOf(await speaker(() => 'a long answer'), { limits: { maxModelLen: 4096, maxResponseTokens: 5 } })
    const [cut] = await model.chat([user('?')])
    expect(cut).toMatchObject({ responseText: 'a lon', truncateStatus: 'response_truncated' })
    const [whole] = await model.chat([user('?')], { max_tokens: 50 })
    expect(whole.truncateStatus).toBeUndefined()
  })

  it('a prompt that is too long gives stand-ins without a gradient, or an error', async () => {
    const sampler = await speaker(() => 'x')
    const limits = { maxModelLen: 64, maxPromptTokens: 10 }
    const [dummy, second] = await modelOf(sampler, { limits: { ...limits, truncatePrompts: true } }).chat(
      [user('much too long for this')],
      { n: 2 },
    )
    expect(second).toBeDefined()
    expect(dummy).toMatchObject({ promptLength: 10, reward: 0, truncateStatus: 'prompt_truncated' })
    expect(dummy).toMatchObject({ responseText: TRUNCATED_NOTICE })
    expect([dummy.tokens.length, ...dummy.actionMask, ...dummy.logprobs!]).toEqual([11, 0, 0])
    expect(sampler.stats().sampledTokens).toBe(0)
    const strict = modelOf(sampler, { limits: { ...limits, truncatePrompts: false } })
    await expect(strict.chat([user('much too long for this')])).rejects.toMatchObject({
      code: 'workflow/prompt-too-long',
      path: 'model.max_prompt_tokens',
    })
  })

  it('messages and tools that are more than the tokens of a prompt are refused before a template sees them', async () => {
    const model = modelOf(await speaker(() => 'x'), { limits: { maxModelLen: 64, truncatePrompts: false } })
    const render = vi.spyOn(ChatTemplate.prototype, 'render')
    const tools = Array.from({ length: 40 }, () => ({}))
    const many = model.chat(Array(40).fill(user('x')), { tools })
    await expect(many).rejects.toMatchObject({ code: 'workflow/prompt-too-long', path: 'messages' })
    await expect(many).rejects.toThrow('80 tokens or more; the limit is 63')
    expect(render).not.toHaveBeenCalled()
    render.mockRestore()
  })

  it('whoever asks a model that nothing else limits is told nothing of a configuration', async () => {
    const model = modelOf(await speaker(() => 'x'), { limits: { maxModelLen: 64, maxPromptTokens: 10 } })
    model.refuseLong()
    for (const [asked, path] of [
      [model.chat([user('x'.repeat(99))]), 'messages'],
      [model.generate('x'.repeat(99)), 'prompt'],
    ] as const) {
      await expect(asked).rejects.toMatchObject({ path, hint: expect.not.stringContaining('_') })
    }
  })

  it('of a prompt that is far too long only the beginning is looked at, with the same result', async () => {
    const encode = vi.spyOn(tokenizer, 'encode')
    const limits = { maxModelLen: 64, maxPromptTokens: 10, truncatePrompts: true }
    const content = 'long, '.repeat(200_000)
    const [dummy] = await modelOf(await speaker(() => 'x'), { limits }).chat([user(content)])
    expect(Math.max(...encode.mock.calls.map(([part]) => part.length))).toBeLessThan(content.length / 10)
    encode.mockRestore()
    expect(dummy.tokens).toEqual(tokenizer.encode(`<|user|>${content}`.slice(0, 1000)).slice(0, 11))
    expect(dummy).toMatchObject({ promptLength: 10, truncateStatus: 'prompt_truncated' })
    // A long text of few tokens is not called too long.
    const few = modelOf(await speaker(() => 'x'), { limits: { ...limits, maxModelLen: 4096, maxPromptTokens: 2000 } })
    const [fits] = await few.generate('<|assistant|>'.repeat(1990))
    expect(fits.truncateStatus).toBeUndefined()
  })

  it('a conversation that does not fit from the start is a stand-in too', async () => {
    const model = modelOf(await speaker(() => 'x'), {
      limits: { maxModelLen: 64, maxPromptTokens: 4, truncatePrompts: true },
    })
    await model.chat([user('much too long')])
    expect(model.toExperience()).toMatchObject({ truncateStatus: 'prompt_truncated', reward: 0 })
  })

  it('seeds every call by itself, and the same run gives the same answers again', async () => {
    const talk = async () => {
      const model = modelOf(await speaker(undefined, { vocabSize: tokenizer.vocabSize }))
      const args = { max_tokens: 12, ignore_eos: true }
      const [first] = await model.generate('ab', args)
      const [second] = await model.generate('ab', args)
      return [first, second].map(({ tokens }) => tokens.join())
    }
    const [first, second] = await talk()
    expect(first).not.toBe(second)
    expect(await talk()).toEqual([first, second])
  })

  it('scores tokens', async () => {
    const model = modelOf(await speaker(undefined))
    const scores = await model.logprobs([3, 4, 5], { temperature: 1 })
    expect(scores).toHaveLength(2)
    expect(scores[0]).toBeCloseTo(-Math.log(tokenizer.vocabSize), 5)
  })

  it('stops the engine when its signal fires, and fails with the reason', async () => {
    const control = new AbortController()
    const sampler = await speaker(() => 'an endless answer '.repeat(50), { latencyMs: 2 })
    const model = modelOf(sampler, { signal: control.signal })
    const call = model.chat([user('?')])
    setTimeout(() => control.abort(new Error('enough')), 20)
    await expect(call).rejects.toThrow('enough')
    const sampled = sampler.stats().sampledTokens
    expect(sampler.stats().running).toBe(0)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(sampler.stats().sampledTokens).toBe(sampled)
  })

  it('says what is missing: a template, a history', async () => {
    const model = modelOf(await speaker(() => 'x'), { text: { tokenizer } })
    await expect(model.chat([user('?')])).rejects.toMatchObject({ code: 'chat/missing' })
    expect((await model.generate('plain'))[0].responseText).toBe('x')
    expect(() => model.takeHistory()).toThrow(/not recorded/)
  })
})

describe('a conversation', () => {
  it('goes on from the sampled tokens and becomes one experience with a mask', async () => {
    const sampler = await speaker((prompt) => (prompt.includes('two') ? 'second' : 'first'))
    const model = modelOf(sampler)
    const messages = [user('one')]
    const [first] = await model.chat(messages)
    messages.push(assistant(first.responseText!), user('two'))
    await model.chat(messages)
    const whole = model.toExperience()
    expect(tokenizer.decode(whole.tokens, { skipSpecial: false })).toBe(
      '<|user|>one<|end|><|assistant|>first<|end|><|user|>two<|end|><|assistant|>second<|end|>',
    )
    const written = [...whole.tokens.subarray(whole.promptLength)].filter((_, i) => whole.actionMask[i])
    expect(tokenizer.decode(written, { skipSpecial: false })).toBe('first<|end|>second<|end|>')
    expect(whole).toMatchObject({ type: 'multi_turn', promptText: '<|user|>one<|end|><|assistant|>' })
    expect([...whole.logprobs!].every((x, i) => (whole.actionMask[i] ? x < 0 : x === 0))).toBe(true)
    expect(model.stats).toMatchObject({ calls: 2, divergences: 0 })
  })

  it('opens a new sequence, and counts it, when the past was changed', async () => {
    const model = modelOf(await speaker(() => 'answer'))
    await model.chat([user('one')])
    await model.chat([user('one'), assistant('something else'), user('two')])
    expect(model.stats.divergences).toBe(1)
    expect(model.toExperiences()).toHaveLength(2)
    expect(() => model.toExperience()).toThrow(/split into 2/)
  })

  it('never mixes temperatures in one experience', async () => {
    const model = modelOf(await speaker(() => 'answer'))
    await model.chat([user('one')])
    await model.chat([user('one'), assistant('answer'), user('two')], { temperature: 0.5 })
    expect(model.toExperiences().map(({ temperature }) => temperature)).toEqual([1, 0.5])
  })

  it('takes no longer for each turn where many answers read the same and were written differently', async () => {
    let turn = 0
    const model = modelOf(await speaker(() => (turn++ % 2 ? 'yes' : 'yes ')), { limits: { maxModelLen: 1 << 16 } })
    const messages: ChatMessage[] = []
    const template = vi.spyOn(ChatTemplate.prototype, 'renderSpans')
    for (let i = 0; i < 60; i++) {
      messages.push(user(String(i)))
      await model.chat(messages)
      messages.push(assistant('yes'))
    }
    expect(template.mock.calls.length).toBe(60)
    template.mockRestore()
    expect(model.stats.divergences).toBe(0)
    expect(tokenizer.decode(model.toExperience().tokens)).toContain('0yes 1yes2yes 3yes')
  })

  it('goes on without what a stop string hid', async () => {
    const says = ['think. Action: go\nObservation: made up', 'done. Action: end']
    const model = modelOf(obeyingStops(await speaker((prompt) => says[prompt.includes('a door') ? 1 : 0])))
    const messages = [user('go')]
    const [first] = await model.chat(messages, { stop: ['\nObservation:'] })
    expect(first.responseText).toBe('think. Action: go')
    expect(tokenizer.decode(first.tokens)).toContain('Observation:')
    await model.chat([...messages, assistant(first.responseText!), user('a door')], { stop: ['\nObservation:'] })
    const shown = '<|user|>go<|end|><|assistant|>think. Action: go<|end|><|user|>a door<|end|><|assistant|>'
    const textOf = ({ tokens }: Experience) => tokenizer.decode(tokens, { skipSpecial: false })
    const whole = model.toExperience()
    expect(textOf(whole)).toBe(`${shown}done. Action: end<|end|>`)
    const written = [...whole.tokens.subarray(whole.promptLength)].filter((_, i) => whole.actionMask[i])
    expect(tokenizer.decode(written, { skipSpecial: false })).toBe('think. Action: godone. Action: end<|end|>')
    // all that was sampled, each in the context it was sampled in
    const all = model.toExperiences({ hidden: true })
    expect(all.map(textOf)).toEqual([
      '<|user|>go<|end|><|assistant|>think. Action: go\nObservation:',
      `${shown}done. Action: end<|end|>`,
    ])
    expect(all.map(({ actionMask }) => actionMask.reduce((sum, one) => sum + one, 0))).toEqual([30, 18])
    expect(all[1].promptText).toBe(shown)
    expect(model.stats.divergences).toBe(0)
  })

  it('branches where several answers follow one prompt', async () => {
    const model = modelOf(await speaker((prompt) => (prompt.includes('two') ? 'end' : ['a', 'b'])))
    const answers = await model.chat([user('one')], { n: 2 })
    for (const { responseText } of answers)
      await model.chat([user('one'), assistant(responseText!), user('two')], { n: 1 })
    const texts = model.toExperiences().map(({ responseText }) => responseText)
    expect(texts).toEqual(['a', 'b'].map((x) => `${x}<|end|><|user|>two<|end|><|assistant|>end<|end|>`))
    expect(model.stats.divergences).toBe(0)
  })

  it('keeps every sampled token, for any split of texts into tokens', async () => {
    // A tokenizer would merge what the model wrote as single bytes: the tokens must stay as they were drawn.
    const word = fc.stringMatching(/^[ -~]{0,12}$/)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(word, word), { minLength: 1, maxLength: 5 }), async (turns) => {
        let turn = 0
        const model = modelOf(await speaker(() => turns[turn++][1]))
        const messages: ChatMessage[] = []
        const sampled: number[][] = []
        for (const [question] of turns) {
          messages.push(user(question))
          const [answer] = await model.chat(messages)
          sampled.push([...answer.tokens.subarray(answer.promptLength)])
          messages.push(assistant(answer.responseText!))
        }
        const whole = model.toExperience()
        const kept = [...whole.tokens.subarray(whole.promptLength)].filter((_, i) => whole.actionMask[i])
        expect(kept).toEqual(sampled.flat())
      }),
      { numRuns: 30 },
    )
  })

  it('a branch has a conversation, random numbers and one answer of its own, and counts with the whole', async () => {
    const model = modelOf(await speaker(undefined), { n: 3 })
    const say = (one: RolloutModel) => one.generate('abc', { max_tokens: 8, ignore_eos: true, n: 1 })
    const [whole] = await say(model)
    const branches = ['x', 'y', 'x'].map((name) => model.branch(name))
    const [[x], [y], [again]] = await Promise.all(branches.map(say))
    expect(again.tokens).toEqual(x.tokens)
    expect([y.tokens, whole.tokens]).not.toContainEqual(x.tokens)
    expect(await branches[0].generate('a', { max_tokens: 1 })).toHaveLength(1)
    expect(model.toExperiences()).toHaveLength(1)
    expect(model.stats).toMatchObject({ calls: 5, sampledTokens: 4 * 8 + 1 })
  })

  it('retells an answer after another prompt, with the tokens that were sampled', async () => {
    const model = modelOf(await speaker(() => 'yes'))
    const [answer] = await model.answers([user('a hint, and a question')])
    const branch = model.branch('retold')
    const told = branch.retell([user('a question')], answer)
    expect(told.promptText).toBe('<|user|>a question<|end|><|assistant|>')
    expect(told.tokens.subarray(told.promptLength)).toEqual(answer.sample.tokens)
    branch.retell([user('a question'), assistant('yes'), user('why?')], answer)
    expect(branch.toExperience().responseText).toBe('yes<|end|><|user|>why?<|end|><|assistant|>yes<|end|>')
    expect(model.stats.sampledTokens).toBe(answer.sample.tokens.length)
  })
})
