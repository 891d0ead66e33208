import { TrinityError } from '../base/error.js'
import type { DataFile } from './data-file.js'

/** Columns of a data set that hold what is asked and what is right. */
export interface Columns {
  readonly prompt: string
  readonly response: string
}

/** Their usual names. */
const KNOWN: Readonly<Record<keyof Columns, readonly string[]>> = {
  prompt: ['question', 'prompt', 'problem', 'instruction', 'input', 'query'],
  response: ['answer', 'response', 'solution', 'truth', 'ground_truth', 'target', 'output', 'label'],
}

/** The column with a usual name. */
export function usualColumn(what: keyof Columns, { columns }: DataFile): string | undefined {
  return KNOWN[what].find((name) => columns.includes(name))
}

/** Which columns hold questions and answers: those that were named, else those with usual names. */
export function columnsOf(file: DataFile, named: Partial<Columns> = {}): Columns {
  const column = (what: keyof Columns) => {
    const option = what === 'prompt' ? '--prompt-key' : '--response-key'
    const there = file.columns.join(', ')
    const name = named[what]
    if (name !== undefined) {
      if (file.columns.includes(name)) return name
      throw new TrinityError('init/data', `${file.path} has no column ${name}`, {
        path: option,
        hint: `one of ${there}`,
      })
    }
    const found = usualColumn(what, file)
    if (found !== undefined) return found
    const holds = what === 'prompt' ? 'questions' : 'answers'
    throw new TrinityError('init/data', `cannot tell which column of ${file.path} holds the ${holds}: ${there}`, {
      path: file.path,
      hint: `name it with ${option}, or call it one of ${KNOWN[what].join(', ')}`,
    })
  }
  return { prompt: column('prompt'), response: column('response') }
}
