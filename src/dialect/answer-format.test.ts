import { describe, expect, it } from 'vitest'
import { text } from '../../test/support/workflow-kit.js'
import { constraintFor } from '../grammar/index.js'
import { answerFormat } from './answer-format.js'
import type { ChatArgs } from './chat-args.js'

const { tokenizer } = text

/** Which of some answers a call with these arguments lets through. */
function fitting(args: ChatArgs, answers: readonly string[], reasoning = false): string[] {
  const format = answerFormat(args, { reasoning })
  if (!format) return [...answers]
  const constraint = constraintFor(tokenizer, tokenizer, format)
  return answers.filter((answer) => constraint.accepts(answer))
}

const schema = { type: 'object', properties: { at: { type: 'string', enum: ['x', 'y'] } }, required: ['at'] }
const look = { type: 'function', function: { name: 'look', parameters: schema } }
const go = { type: 'function', function: { name: 'go' } }
const CALL = '<tool_call>\n{"name": "look", "arguments": {"at": "x"}}\n</tool_call>'
const WRONG = '<tool_call>{"name":"look","arguments":{"at":"z"}}</tool_call>'
const GO = '<tool_call>{"name":"go","arguments":{"far":[1]}}</tool_call>'

describe('the format of an answer', () => {
  it('of text is what response_format or a guide says', () => {
    const json = ['{"at":"x"}', '{"at":"z"}', '[]', 'hello']
    expect(answerFormat({ response_format: { type: 'text' } }, { reasoning: false })).toBeUndefined()
    expect(fitting({ response_format: { type: 'json_object' } }, json)).toEqual(json.slice(0, 2))
    expect(fitting({ response_format: { type: 'json_schema', json_schema: { name: 'place', schema } } }, json)).toEqual(
      [json[0]],
    )
    expect(fitting({ guided_json: JSON.stringify(schema) }, json)).toEqual([json[0]])
    expect(fitting({ guided_regex: 'h.*o' }, json)).toEqual(['hello'])
    expect(fitting({ guided_choice: ['[]', 'x'] }, json)).toEqual(['[]'])
  })

  it('of a call holds its arguments to the schema of the tool', () => {
    const answers = [CALL, WRONG, GO, `${CALL}\n${GO}`, 'just text', '']
    const tools = [look, go]
    expect(fitting({ tools }, answers)).toEqual(answers)
    expect(fitting({ tools, tool_choice: 'none' }, answers)).toEqual(answers)
    expect(fitting({ tools, tool_choice: 'required' }, answers)).toEqual([CALL, GO, `${CALL}\n${GO}`])
    expect(fitting({ tools, tool_choice: 'required', parallel_tool_calls: false }, answers)).toEqual([CALL, GO])
    expect(fitting({ tools, parallel_tool_calls: false }, answers)).toEqual([CALL, WRONG, GO, 'just text', ''])
    const named = { type: 'function', function: { name: 'look' } } as const
    expect(fitting({ tools, tool_choice: named }, answers)).toEqual([CALL])
  })

  it('of a strict tool is held to where the model chooses to call it', () => {
    const strict = { type: 'function', function: { ...look.function, strict: true } }
    const answers = ['just text', '', `first I look ${CALL}`, `first ${WRONG}`, GO, `<tool_call>nonsense`]
    expect(fitting({ tools: [strict, go] }, answers)).toEqual(['just text', '', `first I look ${CALL}`, GO])
  })

  it('restricts calls to the allowed tools', () => {
    const tools = [look, go]
    const only = (mode: 'auto' | 'required', name = 'go'): ChatArgs['tool_choice'] => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [{ type: 'function', function: { name } }] },
    })
    const answers = [CALL, GO, `${GO}\n${GO}`, `${GO}\n${CALL}`, 'just text']
    expect(fitting({ tools, tool_choice: only('auto') }, answers)).toEqual([GO, `${GO}\n${GO}`, 'just text'])
    expect(fitting({ tools, tool_choice: only('required') }, answers)).toEqual([GO, `${GO}\n${GO}`])
    const one = { tools, tool_choice: only('auto'), parallel_tool_calls: false }
    expect(fitting(one, answers)).toEqual([GO, 'just text'])
    expect(() => fitting({ tools, tool_choice: only('auto', 'fly') }, answers)).toThrow('names no tool')
  })

  it('may be text or a call at once', () => {
    const args: ChatArgs = { tools: [look], response_format: { type: 'json_object' } }
    expect(fitting(args, [CALL, WRONG, '{"a":1}', 'text'])).toEqual([CALL, '{"a":1}'])
  })

  it('leaves reasoning free', () => {
    const args: ChatArgs = { guided_choice: ['yes', 'no'] }
    const answers = ['yes', '<think>\nhm {</think>\n\nno', 'hm</think>yes', '<think>hm', '<think></think>maybe']
    expect(fitting(args, answers, true)).toEqual(answers.slice(0, 3))
    expect(fitting(args, answers)).toEqual(['yes'])
  })

  it.each([
    [{ response_format: { type: 'xml' } }, 'response_format.type'],
    [{ response_format: { type: 'json_schema', schema } }, 'response_format.json_schema.schema'],
    [{ guided_json: '{' }, 'guided_json'],
    [{ guided_regex: 'a', guided_choice: ['a'] }, 'response_format'],
    [{ tools: [look], tool_choice: 'some' }, 'tool_choice'],
    [{ tools: [look], tool_choice: { type: 'function', function: { name: 'lok' } } }, 'tool_choice'],
    [{ tools: [{ type: 'function' }], tool_choice: 'required' }, 'tools[0]'],
  ])('%j is refused', (args, path) => {
    expect(() => answerFormat(args as ChatArgs, { reasoning: false })).toThrow(
      expect.objectContaining({ name: 'TrinityError', path }),
    )
  })
})
