import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Part, Reading } from './answer.js'
import { AnswerReader } from './answer-reader.js'

const CALL = '<tool_call>{"name": "look", "arguments": {"at": "x"}}</tool_call>'
const reading: Reading = { tools: true, reasoning: true, callId: (index, call) => `c${index}${call}` }

/** Reads a text in pieces; texts that follow each other are put together. */
function read(pieces: readonly string[], options: Partial<Reading> = {}): Part[] {
  const reader = new AnswerReader({ ...reading, ...options }, 0)
  const parts: Part[] = []
  for (const part of [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()]) {
    const last = parts.at(-1)
    if (part.type !== 'call' && last?.type === part.type) {
      parts[parts.length - 1] = { ...part, text: last.text + part.text }
    } else parts.push(part)
  }
  return parts
}

const call = (id: string, name = 'look', args = '{"at":"x"}') => ({
  type: 'call',
  call: { id, name, arguments: args },
})
const text = (text: string) => ({ type: 'text', text })

describe('AnswerReader', () => {
  it('reads calls out of the text, in their order, without the blanks around them', () => {
    expect(read([`so: ${CALL}\n${CALL}`])).toEqual([text('so:'), call('c00'), call('c01')])
    expect(read([` a ${CALL} b ${CALL}\n`])).toEqual([text(' a'), call('c00'), text(' b'), call('c01')])
    expect(read(['<tool_call>\n{"name":"f","parameters":{}}'])).toEqual([call('c00', 'f', '{}')])
    expect(read(['<tool_call>{"name":"f","arguments":"{\\"a\\": 1}"}</tool_call>'])).toEqual([
      call('c00', 'f', '{"a":1}'),
    ])
  })

  it('leaves what is not a call in the text', () => {
    const odd = ['{"name": ', '[]', 'null', '{"name":"f","arguments":[1]}', '{"name":"f","arguments":"no"}', '{}']
    for (const whole of [...odd.map((body) => `a  <tool_call>${body}</tool_call> b `), '<tool_call>', 'none ', ' <']) {
      expect(read([whole])).toEqual([text(whole)])
    }
    expect(read([`a ${CALL}`], { tools: false })).toEqual([text(`a ${CALL}`)])
  })

  it('finds reasoning with and without its beginning', () => {
    const reasoned = [{ type: 'reasoning', text: 'hm' }, text('four')]
    for (const whole of ['<think>\nhm\n</think>\n\nfour', 'hm</think>four', ' <think>hm</think> four']) {
      expect(read([whole])).toEqual(reasoned)
    }
    expect(read(['just four'])).toEqual([text('just four')])
    expect(read(['<think>cut o'])).toEqual([{ type: 'reasoning', text: 'cut o' }])
    expect(read([`<think>${CALL}</think>${CALL}`])).toEqual([{ type: 'reasoning', text: CALL }, call('c00')])
    expect(read(['<think>hm</think>four'], { reasoning: false })).toEqual([text('<think>hm</think>four')])
  })

  it('gives reasoning and text as they come', () => {
    const reader = new AnswerReader(reading, 0)
    expect(reader.push('<think>a')).toEqual([{ type: 'reasoning', text: 'a' }])
    expect(reader.push('b </thi')).toEqual([{ type: 'reasoning', text: 'b' }])
    expect(reader.push('nk> c')).toEqual([text('c')])
    expect(reader.push(`d ${CALL}`)).toEqual([text('d'), call('c00')])
  })

  it('reads the same however the text is cut, and loses nothing but blanks and tags', () => {
    const words = ['<', '<tool', '_call>', '{}', 'a', '</tool_call>', ' ', '\n', CALL, '<think>', '</think>', '</']
    const texts = fc.array(fc.constantFrom(...words), { maxLength: 12 })
    fc.assert(
      fc.property(texts, fc.boolean(), fc.boolean(), (pieces, tools, reasoning) => {
        const whole = read([pieces.join('')], { tools, reasoning })
        expect(read(pieces, { tools, reasoning })).toEqual(whole)
        expect(read([...pieces.join('')], { tools, reasoning })).toEqual(whole)
        const kept = whole.map((part) => (part.type === 'call' ? CALL : part.text)).join('')
        const bare = (text: string) => text.replace(/\s|<think>|<\/think>/g, '')
        expect(bare(kept)).toBe(bare(pieces.join('')))
      }),
      { numRuns: 500 },
    )
  })
})
