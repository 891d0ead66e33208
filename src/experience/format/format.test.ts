import { describe, expect, it } from 'vitest'
import type { FormatConfig, Given } from '../../config/index.js'
import type { Experience } from '../../experience/experience.js'
import type { DataRow } from '../../task/source/row-source.js'
import { formatTask } from '../../task/task-format.js'
import type { ChatCoder } from './chat-coder.js'
import { createFormatter, type LengthLimits } from './index.js'

/** One token per character; a message reads `role:content;`, tools come first in brackets. */
const encodeText = (text: string) => Int32Array.from(text, (char) => char.codePointAt(0) as number)
const decode = (ids: Iterable<number>) => String.fromCodePoint(...ids)
const coder: ChatCoder = {
  encode(messages, options = {}) {
    const tools = options.tools ? `[${options.tools.length}]` : ''
    const turns = messages.map(({ role, content }) => `${role}:${content};`).join('')
    return encodeText(tools + turns + (options.addGenerationPrompt ? 'assistant:' : ''))
  },
  encodeWithMask(messages, options) {
    const tokens = this.encode(messages, options)
    const mask = new Uint8Array(tokens.length)
    messages.forEach(({ role }, i) => {
      if (role !== 'assistant') return
      const start = this.encode(messages.slice(0, i), { ...options, addGenerationPrompt: true }).length
      mask.fill(1, start, this.encode(messages.slice(0, i + 1), options).length)
    })
    return { tokens, mask, promptLength: Math.max(0, mask.indexOf(1)) }
  },
  tokenizer: { encode: (text, { addSpecial } = {}) => encodeText((addSpecial ? '^' : '') + text), decode },
}

const make = (schema: string, row: DataRow, format: Given<FormatConfig> = {}, limits: LengthLimits = {}) =>
  createFormatter(schema, format, coder, limits)(row)
const prompt = (e: Experience) => decode(e.tokens.subarray(0, e.promptLength))
const response = (e: Experience) => decode(e.tokens.subarray(e.promptLength))
/** The response with everything that is not learned as dots. */
const learned = (e: Experience) => [...response(e)].map((char, i) => (e.actionMask[i] ? char : '.')).join('')

const chat = [
  { role: 'user', content: 'a' },
  { role: 'assistant', content: 'b' },
  { role: 'user', content: 'c' },
  { role: 'assistant', content: 'd' },
]

describe('sft', () => {
  it('learns the last message of a conversation', () => {
    const experience = make('sft', { message: chat })
    expect(prompt(experience)).toBe('user:a;assistant:b;user:c;assistant:')
    expect(learned(experience)).toBe('d;')
    expect(experience).toMatchObject({
      type: 'single_turn',
      messages: chat,
      promptText: prompt(experience),
      responseText: 'd;',
    })
    expect(experience.reward).toBeUndefined()
  })

  it('reads messages and tools from JSON text, and ShareGPT names', () => {
    const row = { messages: JSON.stringify(chat), tools: '[{"type":"function"}]' }
    expect(prompt(make('sft', row, { messages_key: 'messages' }))).toMatch(/^\[1\]user:a/)
    const share = {
      c: [
        { from: 'human', value: 'q' },
        { from: 'gpt', value: 'r' },
      ],
    }
    expect(prompt(make('sft', share, { messages_key: 'c' }))).toBe('user:q;assistant:')
  })

  it('joins content that is a list of texts', () => {
    const parts = [
      { type: 'text', text: 'x' },
      { type: 'text', value: 'y' },
    ]
    const row = {
      message: [
        { role: 'user', content: parts },
        { role: 'assistant', content: parts },
      ],
    }
    expect(prompt(make('sft', row))).toBe('user:xy;assistant:')
  })

  it('learns every assistant turn of a concatenated conversation', () => {
    const experience = make('sft', { message: chat }, { enable_concatenated_multi_turn: true })
    expect(experience.type).toBe('multi_turn')
    expect(prompt(experience)).toBe('user:a;assistant:')
    expect(learned(experience)).toBe('b;.................d;')
    const first = make('sft', { message: chat.slice(1) }, { enable_concatenated_multi_turn: true })
    expect([first.promptLength, learned(first)]).toEqual([10, 'b;.................d;'])
  })

  it('counts the assistant turns that could not be located', () => {
    const lost: ChatCoder = {
      ...coder,
      encodeWithMask: (messages, options) => ({ ...coder.encodeWithMask(messages, options), divergences: [{}] }),
    }
    const format = createFormatter('sft', { enable_concatenated_multi_turn: true }, lost)
    expect(format({ message: chat }).metrics).toEqual({ token_divergences: 1 })
    expect(make('sft', { message: chat }, { enable_concatenated_multi_turn: true }).metrics).toEqual({})
  })

  it('builds a conversation from plain text; the system prompt of the row wins', () => {
    const format = {
      prompt_type: 'plaintext' as const,
      system_prompt: 'S',
      system_prompt_key: 'sys',
      response_key: 'answer',
    }
    expect(prompt(make('sft', { prompt: 'q', answer: 7 }, format))).toBe('system:S;user:q;assistant:')
    const own = make('sft', { prompt: 'q', answer: 'r', sys: 'T' }, format)
    expect([prompt(own), response(own)]).toEqual(['system:T;user:q;assistant:', 'r;'])
  })

  it('keeps the end of every answer, also beyond the length of the model', () => {
    const plain = { prompt_type: 'plaintext' } as const
    const row = { prompt: 'q'.repeat(50), response: 'r'.repeat(50) }
    for (const made of [make('sft', row, plain, { maxModelLen: 20 }), make('sft', row, plain)]) {
      expect(learned(made)).toBe(`${'r'.repeat(50)};`)
      expect([made.truncateStatus, made.failure]).toEqual([undefined, undefined])
    }
    const talk = make('sft', { message: chat }, { enable_concatenated_multi_turn: true }, { maxModelLen: 10 })
    expect([learned(talk), talk.truncateStatus]).toEqual(['b;.................d;', undefined])
  })

  it.each<[DataRow, Given<FormatConfig>, string]>([
    [{}, {}, "no column 'message'"],
    [{ message: 'x' }, {}, 'not JSON'],
    [{ message: [] }, {}, 'an empty list'],
    [{ message: [3] }, {}, 'message[0] is not a message but a number'],
    [{ message: [{ content: 'x' }] }, {}, 'message[0] has no role'],
    [{ message: chat.slice(0, 3) }, {}, "the last message is from 'user'"],
    [{ message: chat.slice(1, 2) }, {}, 'only one message'],
    [{ message: chat.slice(0, 1) }, { enable_concatenated_multi_turn: true }, 'no assistant turn'],
    [{ prompt: 'q' }, { prompt_type: 'plaintext' }, "no column 'response'"],
    [{ prompt: ['q'], response: '' }, { prompt_type: 'plaintext' }, "'prompt' must hold the prompt as text"],
    [{ message: chat, tools: 'no' }, {}, "'tools' holds text that is not JSON"],
  ])('refuses %j', (row, format, message) => {
    expect(() => make('sft', row, format)).toThrow(message)
  })
})

describe('dpo', () => {
  const plain = { prompt_type: 'plaintext' } as const
  const answers = (e: Experience) => [decode(e.tokens), decode(e.chosen ?? []), decode(e.rejected ?? [])]

  it('makes a pair from plain text', () => {
    const pair = make('dpo', { prompt: 'q', chosen: 'good', rejected: 'bad' }, { ...plain, system_prompt: 'S' })
    expect(pair.type).toBe('dpo')
    expect(answers(pair)).toEqual(['system:S;user:q;assistant:', 'good;', 'bad;'])
  })

  it('makes a pair from messages, in all their forms', () => {
    const ask = [{ role: 'user', content: 'q' }]
    const say = (content: string) => ({ role: 'assistant', content })
    const wanted = ['user:q;assistant:', 'good;', 'bad;']
    expect(answers(make('dpo', { prompt: ask, chosen: [say('good')], rejected: [say('bad')] }))).toEqual(wanted)
    expect(answers(make('dpo', { message: ask, chosen: say('good'), rejected: 'bad' }))).toEqual(wanted)
    expect(answers(make('dpo', { prompt: 'q', chosen: say('good'), rejected: 'bad' }))).toEqual(wanted)
    expect(answers(make('dpo', { chosen: [...ask, say('good')], rejected: [...ask, say('bad')] }))).toEqual(wanted)
  })

  it('whole conversations repeat the prompt that stands beside them', () => {
    const ask = [{ role: 'user', content: 'q' }]
    const chosen = [...ask, { role: 'assistant', content: 'good' }]
    const rejected = [...ask, { role: 'assistant', content: 'bad' }]
    const wanted = ['user:q;assistant:', 'good;', 'bad;']
    expect(answers(make('dpo', { prompt: 'q', chosen, rejected }))).toEqual(wanted)
    expect(answers(make('dpo', { prompt: ask, chosen, rejected }))).toEqual(wanted)
    const withSystem = make('dpo', { prompt: 'q', chosen, rejected }, { system_prompt: 'S' })
    expect(answers(withSystem)[0]).toBe('system:S;user:q;assistant:')
    expect(() => make('dpo', { prompt: 'q', chosen, rejected: 'bad' })).toThrow('one answer is a whole conversation')
    const other = [{ role: 'user', content: 'p' }, rejected[1]]
    expect(() => make('dpo', { prompt: 'q', chosen, rejected: other })).toThrow('do not begin alike')
  })

  it('keeps both answers to their ends', () => {
    const row = { prompt: 'q'.repeat(90), chosen: 'good', rejected: 'b'.repeat(90) }
    const pair = make('dpo', row, plain, { maxModelLen: 10 })
    expect(answers(pair)).toEqual([`user:${'q'.repeat(90)};assistant:`, 'good;', `${'b'.repeat(90)};`])
    expect([pair.truncateStatus, pair.failure]).toEqual([undefined, undefined])
  })

  it('refuses what is not a pair', () => {
    expect(() => make('dpo', { prompt: 'q', chosen: 'x' }, plain)).toThrow("no column 'rejected'")
    expect(() =>
      make('dpo', { chosen: [{ role: 'user', content: 'x' }], rejected: [{ role: 'user', content: 'y' }] }),
    ).toThrow('do not begin alike')
  })
})

describe('cpt', () => {
  it('learns a text from its second token on', () => {
    const experience = make('cpt', { text: 'abc' }, { prompt_type: 'plaintext', prompt_key: 'text' })
    expect([prompt(experience), learned(experience)]).toEqual(['^', 'abc'])
    const cut = make('cpt', { prompt: 'abcdef' }, { prompt_type: 'plaintext' }, { maxModelLen: 4 })
    expect([response(cut), cut.truncateStatus]).toEqual(['abc', 'response_truncated'])
  })

  it('reads plain text only', () => {
    expect(() => make('cpt', { prompt: 'x' })).toThrow('reads plain text')
    expect(() => make('cpt', { prompt: '' }, { prompt_type: 'plaintext' })).toThrow('too short')
  })
})

describe('any formatter', () => {
  it('refuses media and unknown schemas', () => {
    expect(() => make('sft', {}, { image_key: 'images' })).toThrow('images or videos')
    expect(() => make('stf', {})).toThrow("unknown formatter 'stf'")
  })
})

describe('tasks', () => {
  const config = {
    default_workflow_type: 'math_workflow',
    default_reward_fn_type: 'math_reward',
    format: { prompt_key: 'question', response_key: 'answer', workflow_key: 'wf', reward_fn_key: 'rf' },
    rollout_args: { temperature: 0.7 },
    repeat_times: 8,
  }
  const at = { taskset: 1, row: 3 }

  it('carry the record, its prompt and its truth, and what the task set says', () => {
    const raw = { question: 'q', answer: '4', more: [1] }
    expect(formatTask(raw, config, at)).toMatchObject({
      raw,
      workflow: 'math_workflow',
      rewardFn: 'math_reward',
      taskDesc: 'q',
      truth: '4',
      repeatTimes: 8,
      rolloutArgs: { temperature: 0.7 },
      isEval: false,
      index: at,
    })
  })

  it('may name their own workflow and reward', () => {
    expect(formatTask({ wf: 'other', rf: 'r' }, config, at)).toMatchObject({ workflow: 'other', rewardFn: 'r' })
    expect(formatTask({ wf: '', rf: null }, config, at)).toMatchObject({
      workflow: 'math_workflow',
      rewardFn: 'math_reward',
    })
    expect(() => formatTask({ wf: 3 }, config, at)).toThrow("'wf' must hold a name, not 3")
  })

  it('need a workflow', () => {
    expect(() => formatTask({}, {}, at)).toThrow('no workflow')
  })
})
