import { type FileHandle, open } from 'node:fs/promises'
import { messageOf, TrinityError } from '../base/error.js'
import { jsonIn } from '../base/json-text.js'
import { openDataset } from '../task/source/dataset.js'
import { dataFileKind } from '../task/source/open-file.js'

/** Columns of a data set that hold what is asked and what is right. */
export interface Columns {
  readonly prompt: string
  readonly response: string
}

const PROMPTS = ['question', 'prompt', 'problem', 'instruction', 'input', 'query']
const RESPONSES = ['answer', 'response', 'solution', 'truth', 'ground_truth', 'target', 'output', 'label']
/** A row is read whole; one that is longer is not what this is for. */
const LONGEST_ROW = 1 << 20

/** Which columns of a file hold questions and answers: those that were named, else by their usual names in its first row. */
export async function columnsOf(file: string, named: Partial<Columns> = {}): Promise<Columns> {
  const kind = dataFileKind(file)
  const isLines = kind === undefined || (kind.format === 'jsonl' && kind.compression === undefined)
  const row = isLines ? await firstJson(file) : await firstRow(file)
  const known = { prompt: PROMPTS, response: RESPONSES }
  const column = (what: keyof Columns) => {
    const wanted = named[what] === undefined ? known[what] : [named[what]]
    const found = wanted.find((name) => Object.hasOwn(row, name))
    if (found !== undefined) return found
    const there = Object.keys(row).join(', ')
    const option = what === 'prompt' ? '--prompt-key' : '--response-key'
    if (named[what] !== undefined) {
      const text = `${file} has no column ${named[what]}: ${there}`
      throw new TrinityError('init/data', text, { path: option, hint: `one of ${there}` })
    }
    const holds = what === 'prompt' ? 'questions' : 'answers'
    throw new TrinityError('init/data', `no column of ${file} is known to hold ${holds}: ${there}`, {
      path: file,
      hint: `name it with ${option}, or call it one of ${known[what].join(', ')}`,
    })
  }
  return { prompt: column('prompt'), response: column('response') }
}

/** Of a file that is no JSON lines, as a run will read it. */
async function firstRow(file: string): Promise<object> {
  const rows = await openDataset({ path: file })
  try {
    return await rows.row(0)
  } finally {
    await rows.close()
  }
}

async function firstJson(file: string): Promise<object> {
  const line = await firstLine(file)
  const row = jsonIn(line)
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    const isLong = Buffer.byteLength(line) >= LONGEST_ROW
    const what = line === '' ? 'it is empty' : isLong ? 'its first row is too long' : 'its first row is no JSON object'
    throw new TrinityError('init/data', `${file}: ${what}`, {
      path: file,
      hint: 'one row in each line, such as {"question": "…", "answer": "…"}',
    })
  }
  return row
}

/** The first line with something in it. */
async function firstLine(file: string): Promise<string> {
  let handle: FileHandle | undefined
  try {
    handle = await open(file)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(LONGEST_ROW), 0, LONGEST_ROW, 0)
    return buffer.toString('utf8', 0, bytesRead).trimStart().split('\n', 1)[0]
  } catch (cause) {
    const text = `${file} cannot be read: ${messageOf(cause)}`
    throw new TrinityError('init/data', text, { path: file, hint: 'name a file with --data', cause })
  } finally {
    await handle?.close()
  }
}
