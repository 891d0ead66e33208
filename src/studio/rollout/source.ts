import type { Experience } from '../../experience/experience.js'
import type { RolloutRow } from '../api.js'

/** What the index keeps of an experience. */
export interface IndexRow {
  /** Grows from one experience to the next: the id of a row, the byte of a line. */
  readonly key: number
  readonly step: string
  readonly task: string
  readonly run: number
  readonly version: number
  readonly reward?: number
  readonly failure?: string
}

/** A table or a file of experiences, which is only read. */
export interface Source {
  /** Gives everything behind a key, in order; others get their turn in between. */
  scan(after: number, take: (row: IndexRow) => void): Promise<void>
  /** Whether what was scanned up to a key is still what is there: a resumed run takes back what it makes again. */
  isSame(last: number): Promise<boolean>
  /** In the order of the keys; those that are gone are left out. */
  rows(keys: readonly number[]): Promise<RolloutRow[]>
  /** Which of these say something in prompt or response; the text is in lower case. */
  withText(keys: readonly number[], text: string): Promise<number[]>
  read(key: number): Promise<Experience>
  close(): Promise<void>
}

/** Characters of prompts and responses that a table shows. */
export const BRIEF = 200
