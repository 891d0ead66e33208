import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { TrinityError } from '../../src/base/error.js'
import { caseSeed, Draw } from './draw.js'
import { type Damaged, damageFile, type Form } from './mutate.js'
import { Watchdog } from './watchdog.js'

/** A reader of user files: a valid sample, which of its files are damaged, and code that reads all of it. */
export interface FileReader {
  readonly name: string
  /** Writes a valid sample into an empty folder. */
  sample(dir: string): Promise<unknown>
  /** Files that are damaged, by relative path; the first match decides the form. */
  readonly forms: readonly (readonly [RegExp, Form])[]
  read(dir: string): Promise<unknown>
  /** The reader may change its folder (databases, locks). Default: it must leave every byte. */
  readonly writes?: boolean
  /** Share of the cases of a run, relative to 1. Default 1. */
  readonly weight?: number
}

export interface FilesReport {
  readonly read: number
  readonly refused: number
  /** One line per violated property, each with what repeats it. */
  readonly faults: string[]
}

/** Bounds of one case. A reader of a few kilobytes stays far below them on any machine. */
const CPU_MS = 10_000
const RSS_MB = 700
const LONGEST_MESSAGE = 20_000
/** Texts of errors of the JavaScript engine: they mean that a reader trusted its input. */
const ENGINE_ERROR =
  /Cannot (read|set|convert|destructure)|is not (a function|iterable|a constructor)|Maximum call stack|Invalid (array|typed array|string) length|allocation failed|is not defined|\[object Object\]/

/** Errors that quote what a library says about the content. */
const LIBRARY_MESSAGES = new Set(['chat/template', 'chat/render', 'tokenizer/invalid'])

/**
 * Damages the sample of a reader `count` times and reads each copy. Each case must end in a value or in a
 * `TrinityError` with a code, within the bounds, and leave its input as it was. Equal seeds give equal cases.
 */
export async function fuzzFiles(reader: FileReader, count: number, seed: number): Promise<FilesReport> {
  const root = await mkdtemp(join(tmpdir(), 'trinity-fuzz-'))
  const report = { read: 0, refused: 0, faults: [] as string[] }
  const stray = (reason: unknown) => report.faults.push(`${reader.name}: unhandled rejection: ${reason}`)
  process.on('unhandledRejection', stray)
  const watchdog = new Watchdog()
  try {
    // Every case has the path of the sample: files may name their own folder.
    const dir = join(root, 'case')
    await mkdir(dir)
    await reader.sample(dir)
    const sample = await readTree(dir)
    const targets = targetsOf(reader, sample)
    await expectSound(reader, dir)
    for (let index = 0; index < count; index++) {
      const draw = new Draw(caseSeed(reader.name, seed, index))
      const [name, form] = draw.pick(targets)
      const damaged = damageFile(sample.get(name)!, form, draw)
      const label = `${reader.name} case ${index} of seed ${seed} (${name}: ${damaged.kind})`
      watchdog.watch(label)
      await rm(dir, { recursive: true, force: true })
      await place(dir, sample, [name, damaged])
      const found = await attempt(reader, dir)
      if (found.faults.length === 0 && !reader.writes)
        found.faults.push(...(await changesIn(dir, sample, [name, damaged])))
      report[found.isRefused ? 'refused' : 'read']++
      report.faults.push(...found.faults.map((fault) => `${label}: ${fault}`))
    }
    return report
  } finally {
    watchdog.close()
    process.off('unhandledRejection', stray)
    await rm(root, { recursive: true, force: true })
  }
}

type Tree = ReadonlyMap<string, Buffer>

function targetsOf({ name, forms }: FileReader, sample: Tree): [string, Form][] {
  const targets = [...sample.keys()].flatMap((file): [string, Form][] => {
    const match = forms.find(([pattern]) => pattern.test(file))
    return match ? [[file, match[1]]] : []
  })
  if (targets.length === 0) throw new Error(`no file of the sample of '${name}' is damaged`)
  return targets
}

/** An undamaged sample must be read, otherwise the cases test nothing. */
async function expectSound(reader: FileReader, dir: string): Promise<void> {
  try {
    await reader.read(dir)
  } catch (error) {
    throw new Error(`the undamaged sample of '${reader.name}' is refused: ${error}`, { cause: error })
  }
}

async function attempt(reader: FileReader, dir: string): Promise<{ isRefused: boolean; faults: string[] }> {
  const faults: string[] = []
  const [cpu, memory] = [process.cpuUsage(), process.resourceUsage().maxRSS]
  const error = await reader.read(dir).then(
    () => undefined,
    (thrown: unknown) => thrown ?? new Error('undefined was thrown'),
  )
  const { user, system } = process.cpuUsage(cpu)
  const spent = (user + system) / 1000
  const grown = (process.resourceUsage().maxRSS - memory) / 1024
  if (spent > CPU_MS) faults.push(`took ${Math.round(spent)} ms of CPU`)
  if (grown > RSS_MB) faults.push(`took ${Math.round(grown)} MB of memory`)
  const wrong = error === undefined ? undefined : faultOf(error)
  if (wrong !== undefined) faults.push(wrong)
  const polluted = Object.keys(Object.prototype)
  if (polluted.length > 0) faults.push(`Object.prototype has ${polluted}`)
  for (const key of polluted) Reflect.deleteProperty(Object.prototype, key)
  return { isRefused: error !== undefined, faults }
}

/** Violation of the error contract; undefined for a proper `TrinityError`. */
export function faultOf(error: unknown): string | undefined {
  if (!(error instanceof TrinityError)) {
    return error instanceof Error ? (error.stack ?? String(error)).split('\n').slice(0, 5).join(' | ') : String(error)
  }
  if (!/^[a-z0-9-]+\/[a-z0-9-]+$/.test(error.code)) return `code '${error.code}'`
  if (error.message.length > LONGEST_MESSAGE)
    return `a message of ${error.message.length} characters: ${error.message.slice(0, 200)}`
  const leaked = LIBRARY_MESSAGES.has(error.code) ? undefined : ENGINE_ERROR.exec(error.message)
  return leaked ? `${error.code} shows an error of the engine: ${error.message.slice(0, 300)}` : undefined
}

async function place(dir: string, sample: Tree, changed: readonly [string, Damaged]): Promise<void> {
  for (const [name, bytes] of sample) {
    const path = join(dir, name)
    const written = name === changed[0] ? changed[1].bytes : bytes
    await mkdir(written === 'directory' ? path : dirname(path), { recursive: true })
    if (typeof written !== 'string') await writeFile(path, written)
  }
}

async function changesIn(dir: string, sample: Tree, [name, damaged]: readonly [string, Damaged]): Promise<string[]> {
  const now = await readTree(dir)
  const expected = new Map<string, Buffer>(sample)
  expected.delete(name)
  if (typeof damaged.bytes !== 'string') expected.set(name, damaged.bytes)
  const names = new Set([...now.keys(), ...expected.keys()])
  return [...names].flatMap((one) => {
    const [before, after] = [expected.get(one), now.get(one)]
    if (before === undefined) return `left the file ${one}`
    if (after === undefined) return `removed ${one}`
    return before.equals(after) ? [] : `changed ${one}`
  })
}

async function readTree(dir: string): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>()
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    // SQLite makes and removes these beside a database that is only read.
    if (entry.isFile() && !/-(shm|wal)$/.test(entry.name)) found.set(relative(dir, path), await readFile(path))
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}
