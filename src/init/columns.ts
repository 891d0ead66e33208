import { type FileHandle, open } from 'node:fs/promises'
import { messageOf, TrinityError } from '../base/error.js'
import { jsonIn } from '../base/json-text.js'

/** Columns of a data set that hold what is asked and what is right. */
export interface Columns {
  readonly prompt: string
  readonly response: string
}

const PROMPTS = ['question', 'prompt', 'problem', 'instruction', 'input', 'query']
const RESPONSES = ['answer', 'response', 'solution', 'truth', 'ground_truth', 'target', 'output', 'label']
/** A row is read whole; one that is longer is not what this is for. */
const LONGEST_ROW = 1 << 20

/** Which columns of a file of JSON lines hold questions and answers, by their usual names in its first row. */
export async function columnsOf(file: string): Promise<Columns> {
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
  const [prompt] = PROMPTS.filter((name) => name in row)
  const [response] = RESPONSES.filter((name) => name in row)
  if (prompt !== undefined && response !== undefined) return { prompt, response }
  const what = prompt === undefined ? 'questions' : 'answers'
  const known = prompt === undefined ? PROMPTS : RESPONSES
  throw new TrinityError('init/data', `no column of ${file} is known to hold ${what}: ${Object.keys(row).join(', ')}`, {
    path: file,
    hint: `call it one of ${known.join(', ')}`,
  })
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
