import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { TrinityError } from '../base/error.js'
import { atomicFile } from '../base/file/atomic-file.js'
import { makeFolder } from '../base/file/make-folder.js'
import { inWords } from '../base/file/system-error.js'
import type { Logger } from '../base/log/logger.js'
import type { DataRow } from '../task/index.js'
import { type Contents, type FileRecord, RECORD, readRecord, stateOf, writeRecord } from './record.js'

/** Which data set, and with which options. */
export interface Making {
  readonly name: string
  readonly source: string
  readonly license: string
  /** As JSON holds them. */
  readonly args: Readonly<Record<string, unknown>>
}

/** A file of the data set, after it was asked for. */
export interface PlacedFile extends FileRecord {
  readonly file: string
  /** It was there already, complete and made with the same options. */
  readonly kept: boolean
}

/** Bytes that are gathered before they are written. */
const CHUNK = 1 << 20

/**
 * The folder that a data set is written to. A file appears when it is complete; one that is complete, made with the same
 * options and not changed since is kept, so that the same command goes on where it stopped. What somebody else
 * wrote or changed is never overwritten.
 */
export class Place {
  readonly folder: string
  readonly logger?: Logger
  readonly signal?: AbortSignal
  readonly #args: Making['args']
  readonly #record: Contents
  readonly #placed = new Map<string, PlacedFile>()

  private constructor(folder: string, { args }: Making, record: Contents, { logger, signal }: PlaceContext) {
    this.folder = folder
    this.logger = logger
    this.signal = signal
    this.#args = args
    this.#record = record
  }

  static async open(folder: string, making: Making, context: PlaceContext = {}): Promise<Place> {
    await inWords(makeFolder(folder), folder)
    const { name, source, license } = making
    const before = await readRecord(folder)
    if (before && before.name !== name) {
      throw new TrinityError('dataset/occupied', `${folder} holds the data set '${before.name}'`, {
        path: folder,
        hint: 'give another folder with --out',
      })
    }
    return new Place(
      folder,
      { ...making, args: asJson(making.args) },
      { name, source, license, files: before?.files ?? {} },
      context,
    )
  }

  /** The files asked for so far. */
  get files(): PlacedFile[] {
    return [...this.#placed.values()]
  }

  /**
   * Writes rows as lines of JSON. A file that is kept does not ask for them. `of` is what the file is made of, where
   * that is not all of the options.
   */
  async write(
    file: string,
    rows: Iterable<DataRow> | AsyncIterable<DataRow>,
    of?: Making['args'],
  ): Promise<PlacedFile> {
    let count = 0
    async function* lines() {
      for await (const row of rows) {
        count++
        yield `${JSON.stringify(row)}\n`
      }
      if (count > 0) return
      throw new TrinityError('data/empty', `there are no rows for ${file}`, { path: file })
    }
    return this.#place(file, lines(), of, () => count)
  }

  /** Writes bytes: a program, an archive, an index. */
  async put(
    file: string,
    chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    of?: Making['args'],
  ): Promise<PlacedFile> {
    return this.#place(file, chunks, of, () => undefined)
  }

  /** Copies a file that the user has. */
  async copy(file: string, from: string): Promise<PlacedFile> {
    return this.put(file, createReadStream(from, { highWaterMark: CHUNK }) as AsyncIterable<Buffer>)
  }

  async #place(
    file: string,
    parts: Parts,
    of: Making['args'] | undefined,
    rows: () => number | undefined,
  ): Promise<PlacedFile> {
    this.signal?.throwIfAborted()
    const args = of === undefined ? this.#args : asJson(of)
    const path = join(this.folder, inside(file))
    const kept = await this.#kept(file, path, args)
    if (kept) return this.#remember(file, kept, true)
    await inWords(makeFolder(dirname(path)), path)
    let record: FileRecord | undefined
    await atomicFile(path, async (handle) => {
      const hash = createHash('sha256')
      let bytes = 0
      for await (const chunk of gathered(parts, this.signal)) {
        hash.update(chunk)
        bytes += chunk.length
        await handle.writeFile(chunk)
      }
      record = { rows: rows(), bytes, sha256: hash.digest('hex'), args }
      // Known before it appears: a file that nobody wrote down would be taken for the user's.
      this.#record.files[file] = record
      await writeRecord(this.folder, this.#record)
    })
    return this.#remember(file, record as FileRecord, false)
  }

  #remember(file: string, record: FileRecord, kept: boolean): PlacedFile {
    const placed = { ...record, file, kept }
    this.#placed.set(file, placed)
    return placed
  }

  /** What is there already and stays. What is ours and made with other options goes. */
  async #kept(file: string, path: string, args: Making['args']): Promise<FileRecord | undefined> {
    const record = this.#record.files[file]
    const state = record ? await stateOf(path, record) : (await stat(path).catch(() => undefined)) && 'foreign'
    if (state === undefined || state === 'missing') return undefined
    if (state !== 'unchanged') {
      const why = state === 'changed' ? 'has changed since trinity data wrote it' : 'was not written by trinity data'
      throw new TrinityError('dataset/foreign', `${path} ${why}, and is not overwritten`, {
        path,
        hint: 'move it away, or give another folder with --out',
      })
    }
    if (isDeepStrictEqual(record.args, args)) return record
    await rm(path)
    return undefined
  }
}

export interface PlaceContext {
  readonly logger?: Logger
  readonly signal?: AbortSignal
}

/** A name below the folder. */
function inside(file: string): string {
  const parts = file.split(/[\\/]/)
  if (file !== RECORD && parts.every((part) => part !== '' && part !== '.' && part !== '..')) return file
  throw new TrinityError('dataset/file', `'${file}' cannot be a file of a data set`, { path: file })
}

function asJson(args: Making['args']): Making['args'] {
  return JSON.parse(JSON.stringify(args))
}

type Parts = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>

/** How long rows may be made before timers and signals get their turn. */
const TURN_MS = 50

/** Small parts joined, so that a row is not a write. */
async function* gathered(parts: Parts, signal: AbortSignal | undefined): AsyncIterable<Buffer> {
  let waiting: Buffer[] = []
  let bytes = 0
  let turn = performance.now()
  for await (const part of parts) {
    if (performance.now() - turn > TURN_MS) {
      await setImmediate()
      turn = performance.now()
    }
    signal?.throwIfAborted()
    const buffer = Buffer.from(part as string)
    waiting.push(buffer)
    bytes += buffer.length
    if (bytes < CHUNK) continue
    yield Buffer.concat(waiting)
    waiting = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(waiting)
}
