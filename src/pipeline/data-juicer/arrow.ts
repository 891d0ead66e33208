import {
  Field,
  Float64,
  Int32,
  List,
  Struct,
  Table,
  tableFromIPC,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow'
import { messageOf, TrinityError } from '../../base/error.js'
import type { Experience } from '../../experience/experience.js'
import { uid } from '../../experience/experience.js'

/**
 * What the service sees of an experience: its texts and numbers, and the number of its row. Tokens, log-probs and masks
 * stay here; the row number finds them again, whatever the service drops or reorders.
 */
const ROW = 'trinity_row'
/** Where Data-Juicer's operators leave what they measured. */
const STATS = '__dj__stats__'

const text = new Utf8()
const message = new Struct<{ role: Utf8; content: Utf8 }>([new Field('role', text), new Field('content', text)])

export function toArrow(experiences: readonly Experience[]): Uint8Array {
  const column = <T>(of: (experience: Experience, row: number) => T | null) => experiences.map(of)
  const table = new Table({
    [ROW]: vectorFromArray(
      column((_, row) => row),
      new Int32(),
    ),
    eid: vectorFromArray(
      column((e) => uid(e.eid)),
      text,
    ),
    prompt_text: vectorFromArray(
      column((e) => e.promptText ?? ''),
      text,
    ),
    response_text: vectorFromArray(
      column((e) => e.responseText ?? ''),
      text,
    ),
    messages: vectorFromArray(
      column((e) => (e.messages ?? []).map(plainMessage)),
      new List(new Field('item', message)),
    ),
    reward: vectorFromArray(
      column((e) => e.reward ?? null),
      new Float64(),
    ),
    prompt_length: vectorFromArray(
      column((e) => e.promptLength),
      new Int32(),
    ),
    response_length: vectorFromArray(
      column((e) => e.tokens.length - e.promptLength),
      new Int32(),
    ),
    model_version: vectorFromArray(
      column((e) => e.modelVersion),
      new Int32(),
    ),
  })
  return tableToIPC(table, 'stream')
}

function plainMessage({ role, content }: { role: string; content?: unknown }): { role: string; content: string } {
  return { role, content: typeof content === 'string' ? content : JSON.stringify(content ?? '') }
}

/** The experiences of the rows that came back, with the texts, rewards and statistics of the service. */
export function fromArrow(bytes: Uint8Array, sent: readonly Experience[]): Experience[] {
  let table: Table
  try {
    table = tableFromIPC(bytes)
  } catch (cause) {
    throw bad(`data that is not an Arrow stream: ${messageOf(cause)}`)
  }
  const rows = table.getChild(ROW)
  if (!rows) throw bad(`no column '${ROW}': an operator has removed it`)
  const cell = (name: string, i: number): unknown => table.getChild(name)?.get(i)
  return Array.from({ length: table.numRows }, (_, i) => {
    const original = sent[Number(rows.get(i))]
    if (!original) throw bad(`row ${String(rows.get(i))}, but ${sent.length} were sent`)
    const experience: Experience = { ...original, info: { ...original.info, ...stats(cell(STATS, i)) } }
    const [prompt, response, reward] = [cell('prompt_text', i), cell('response_text', i), cell('reward', i)]
    if (typeof prompt === 'string' && prompt !== (original.promptText ?? '')) experience.promptText = prompt
    if (typeof response === 'string' && response !== (original.responseText ?? '')) experience.responseText = response
    if (typeof reward === 'number') experience.reward = reward
    return experience
  })
}

function stats(row: unknown): Record<string, unknown> {
  const json = typeof row === 'string' ? written(row) : plain(row)
  return Object.fromEntries(
    Object.entries(json ?? {}).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : plain(value)]),
  )
}

/** Newer versions of the service's library write mixed columns as JSON. */
function written(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw bad(`'${text.slice(0, 100)}' in the column '${STATS}'`)
  }
}

function plain(value: unknown): unknown {
  return typeof (value as { toJSON?: unknown } | null)?.toJSON === 'function'
    ? (value as { toJSON: () => unknown }).toJSON()
    : value
}

function bad(what: string): TrinityError {
  return new TrinityError('data-juicer/answer', `the Data-Juicer service answered with ${what}`)
}
