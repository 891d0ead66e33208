import { type FileHandle, open } from 'node:fs/promises'
import { TrinityError } from '../../base/error.js'
import { numberIn } from '../../experience/fields.js'
import { fromJsonLine } from '../../experience/jsonl.js'
import { eachLine, readPart } from '../run/lines.js'
import { rowOf } from './row.js'
import type { IndexRow, Source } from './source.js'

/** Arrays stand behind what people read: a line need not be read to its end. */
const ARRAYS = ',"tokens":['
const CHUNK = 1 << 16
const LONGEST = 1 << 28

type Fields = Readonly<Record<string, unknown>>

/** A file with an experience on each line. The key of an experience is the byte at which its line begins. */
export class JsonlSource implements Source {
  readonly path: string
  readonly #file: FileHandle

  private constructor(path: string, file: FileHandle) {
    this.path = path
    this.#file = file
  }

  static async open(path: string): Promise<JsonlSource> {
    return new JsonlSource(path, await open(path, 'r'))
  }

  async scan(after: number, take: (row: IndexRow) => void): Promise<void> {
    const { size } = await this.#file.stat()
    // the line of the last key is known already
    const from = after < 0 ? 0 : after + Buffer.byteLength(await this.#line(after)) + 1
    await eachLine(this.#file, from, size, ({ at, text }) => {
      const fields = readable(text)
      if (fields) take(indexed(at, fields))
    })
  }

  /** A resumed run cuts its file off, so that the last line is gone or another one. */
  async isSame(last: number): Promise<boolean> {
    const { size } = await this.#file.stat()
    return last < size && (last <= 0 || (await readPart(this.#file, last - 1, last))[0] === 10)
  }

  async rows(keys: readonly number[]) {
    const rows = await Promise.all(keys.map(async (key) => ({ key, fields: readable(await this.#line(key)) })))
    return rows.flatMap(({ key, fields }) => {
      if (!fields) return []
      const { step, task, run, version, reward, failure } = indexed(key, fields)
      return rowOf({
        ...{ key, batch: step, task, run, version, reward, failure, type: fields.type },
        ...{ consumed: fields.use_count, truncated: fields.truncate_status, prompt: fields.prompt_text },
        ...{ response: fields.response_text, responseLength: numberIn(fields.response_length) },
        info: fields.info,
      })
    })
  }

  async withText(keys: readonly number[], text: string): Promise<number[]> {
    const has = (value: unknown) => typeof value === 'string' && value.toLowerCase().includes(text)
    const found = await Promise.all(
      keys.map(async (key) => {
        const fields = readable(await this.#line(key))
        return has(fields?.prompt_text) || has(fields?.response_text)
      }),
    )
    return keys.filter((_, i) => found[i])
  }

  async read(key: number) {
    const line = await this.#line(key)
    if (line !== '') return fromJsonLine(line, `${this.path} at byte ${key}`)
    throw new TrinityError('studio/no-rollout', `${this.path} has no experience at byte ${key}`)
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  async #line(at: number): Promise<string> {
    const parts: Buffer[] = []
    for (let from = at; from - at < LONGEST; from += CHUNK) {
      const part = await readPart(this.#file, from, from + CHUNK)
      const newline = part.indexOf(10)
      parts.push(newline >= 0 ? part.subarray(0, newline) : part)
      if (newline >= 0 || part.length < CHUNK) break
    }
    return Buffer.concat(parts).toString('utf8')
  }
}

function readable(line: string): Fields | undefined {
  const cut = line.indexOf(ARRAYS)
  return (cut > 0 ? parsed(`${line.slice(0, cut)}}`) : undefined) ?? parsed(line)
}

function parsed(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}

function indexed(key: number, fields: Fields): IndexRow {
  const eid = (fields.eid ?? {}) as Fields
  const failure = fields.failure as { reason?: unknown; message?: unknown } | undefined
  return {
    key,
    step: String(eid.batch ?? ''),
    task: String(eid.task ?? ''),
    run: Number(eid.run ?? 0),
    version: Number(fields.model_version ?? 0),
    reward: numberIn(fields.reward),
    failure: failure?.reason === undefined ? undefined : `${failure.reason}: ${failure.message ?? ''}`,
  }
}
