import type { Note } from '../../src/studio/api.js'

/** Where in the code something happened: the log has it. */
const STACK = /^\s+at /

export interface NoteGroup {
  readonly newest: Note
  readonly count: number
}

/** Notes that say the same but for their numbers, together; the newest first. A judge that is down is one note, not hundreds. */
export function noteGroups(notes: readonly Note[]): NoteGroup[] {
  const groups = new Map<string, { newest: Note; count: number }>()
  for (const note of [...notes].reverse()) {
    if (STACK.test(note.text)) continue
    const key = `${note.level} ${note.text.replace(/\d+/g, '#')}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { newest: note, count: 1 })
    else group.count++
  }
  return [...groups.values()]
}
