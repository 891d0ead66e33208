import { describe, expect, it } from 'vitest'
import { labelOf, NoteCounter, NoteLog, RequestNotes } from './request-notes.js'

const fieldNotes = (...names: string[]) => {
  const notes = new RequestNotes()
  notes.ignoreFields(names, ['temperature', 'seed'])
  return notes
}

describe('request note', () => {
  it('takes its label from a fixed list', () => {
    const notes = fieldNotes('client_metadata', 'secret_of_a_client', '__proto__')
    notes.dropTool('web_search_20250305', 'tools[0]')
    notes.dropTool('web_search_preview_2025_03_11', 'tools[1]')
    notes.dropTool('telepathy', 'tools[2]')
    notes.replaceMedia('image', 'x')
    notes.replaceMedia('hologram', 'x')
    expect([...notes].map(labelOf)).toEqual([
      ...['client_metadata', 'other', 'other', 'web_search', 'web_search_preview', 'other', 'image', 'other'],
    ])
    const counter = new NoteCounter()
    counter.add(notes)
    counter.add(notes)
    expect(counter.read()).toEqual({
      field: { client_metadata: 2, other: 4 },
      tool: { web_search: 2, web_search_preview: 2, other: 2 },
      media: { image: 2, other: 2 },
    })
  })

  it('is logged once, cut, and only up to a bound', () => {
    const lines: string[] = []
    const logger = { warn: (text: string) => lines.push(text) }
    const log = new NoteLog()
    log.add(fieldNotes('a\nb', 'a\nb', 'x'.repeat(1000)), logger)
    log.add(fieldNotes('a\nb', `${'x'.repeat(64)}y`), logger)
    expect(lines).toEqual([
      'requests have the unknown field "a\\nb", which is ignored',
      `requests have the unknown field "${'x'.repeat(64)}", which is ignored`,
    ])
    for (let i = 0; i < 100; i++) log.add(fieldNotes(`key_number_${i}`), logger)
    expect(lines).toHaveLength(32)
  })

  it('is refused if it is a field or a tool', () => {
    expect(() => fieldNotes('temprature').refuse()).toThrow(
      expect.objectContaining({ path: 'temprature', hint: "did you mean 'temperature'?" }),
    )
    const notes = new RequestNotes()
    notes.replaceMedia('image', 'messages[0]')
    notes.refuse()
    notes.dropTool('web_search', 'tools[0]')
    expect(() => notes.refuse()).toThrow('a tool of type "web_search"')
  })
})
