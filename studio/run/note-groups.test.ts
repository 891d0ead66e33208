import { expect, it } from 'vitest'
import type { Note } from '../../src/studio/api.js'
import { noteGroups } from './note-groups.js'

it('notes that differ in numbers alone are one, the newest of them', () => {
  const note = (text: string, level: Note['level'] = 'WARNING'): Note => ({ level, from: 'explorer', text })
  const notes = [note('task 1 failed'), note('slow'), note('task 1 failed', 'ERROR'), note('task 22 failed')]
  expect(noteGroups([note('    at run (a.js:1:2)')])).toEqual([])
  expect(noteGroups(notes)).toEqual([
    { newest: notes[3], count: 2 },
    { newest: notes[2], count: 1 },
    { newest: notes[1], count: 1 },
  ])
})
