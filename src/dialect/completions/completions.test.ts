import { describe, expect, it } from 'vitest'
import { modelOf, speaker } from '../../../test/support/workflow-kit.js'
import { askedOf, Speaking } from '../dialect.fixture.js'
import { completions } from './completions.js'

describe('openai completions', () => {
  it('continues texts and tokens as they are', async () => {
    const model = modelOf(await speaker((prompt) => [`${prompt}!`, `${prompt}?`]))
    const speaking = new Speaking(completions, model)
    const prompt = ['ab', 'c'].map((text) => [...model.tokenizer.encode(text)])
    const body = { prompt, n: 2, logprobs: 0, return_token_ids: true, user: 'me' }
    const { reply } = await speaking.ask(body)
    const choices = reply.choices as { text: string; logprobs: { tokens: string[]; text_offset: number[] } }[]
    expect(choices.map(({ text }) => text)).toEqual(['ab!', 'ab?', 'c!', 'c?'])
    expect(choices[3]).toMatchObject({
      ...{ index: 3, finish_reason: 'stop', prompt_token_ids: prompt[1] },
      logprobs: { tokens: ['c', '?', '<|end|>'], text_offset: [0, 1, 2] },
    })
    expect(reply.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4 + 4 + 3 + 3 })
    const { events } = await speaking.ask({ ...body, stream: true, stream_options: { include_usage: true } })
    const texts = ['', '', '', '']
    for (const { choices } of events) {
      for (const { index, text } of choices as { index: number; text: string }[]) texts[index] += text
    }
    expect(texts).toEqual(['ab!', 'ab?', 'c!', 'c?'])
    expect(events.at(-1)).toMatchObject({ choices: [], usage: reply.usage })
  })

  it('has the defaults of the API', async () => {
    const { args, prompt } = await askedOf(completions, { prompt: 'x' })
    expect([args.max_tokens, args.n, prompt]).toEqual([16, 1, 'x'])
  })

  it.each([
    ['prompt', {}],
    ['prompt', { prompt: [] }],
    ['prompt', { prompt: '' }],
    ['prompt', { prompt: [1_000_000] }],
    ['echo', { prompt: 'x', echo: true }],
    ['suffix', { prompt: 'x', suffix: 'y' }],
    ['best_of', { prompt: 'x', best_of: 3 }],
    ['messages', { prompt: 'x', messages: [] }],
  ])('refuses what it cannot do: %s %j', async (path, body) => {
    await expect(askedOf(completions, body)).rejects.toMatchObject({ name: 'TrinityError', path })
  })
})
