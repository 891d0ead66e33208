import { appendFileSync, renameSync, statSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { makeFolderSync } from '../file/make-folder.js'
import { redact } from '../secret/index.js'
import type { LogDir, Logger } from './logger.js'

export const LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR'] as const
export type Level = (typeof LEVELS)[number]

/** A file that has grown to this is moved aside (`<name>.log.1`) and begun anew. */
const ROTATE_BYTES = 64 * 2 ** 20
const FLUSH_MS = 200

export interface LogOptions {
  /** `<job>/log`; null writes nothing. */
  dir: string | null
  /** `log.level`; TRINITY_LOG_LEVEL wins. */
  level?: string
  /** `log.group_by_node`: a sub-folder named by the address of each machine. */
  groupByNode?: boolean
  rotateBytes?: number
  /** Told once when a log cannot be written. */
  onFailure?: (error: unknown) => void
}

export function openLogDir(options: LogOptions): LogDir {
  return options.dir === null ? { logger: () => SILENT, close: async () => {} } : new FileLogs(options.dir, options)
}

const SILENT: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Lines are collected and written a few times a second, and at the end of the process whatever way it ends by itself. */
class FileLogs implements LogDir {
  readonly #dir: string
  readonly #byNode: boolean
  readonly #least: number
  readonly #rotateBytes: number
  readonly #onFailure: (error: unknown) => void
  readonly #pending = new Map<string, string[]>()
  readonly #timer: NodeJS.Timeout
  readonly #flush = () => this.#write()
  #failed = false

  constructor(dir: string, options: LogOptions) {
    this.#dir = dir
    this.#byNode = options.groupByNode ?? false
    this.#least = LEVELS.indexOf(levelOf(process.env.TRINITY_LOG_LEVEL ?? options.level))
    this.#rotateBytes = options.rotateBytes ?? ROTATE_BYTES
    this.#onFailure = options.onFailure ?? (() => {})
    this.#timer = setInterval(this.#flush, FLUSH_MS)
    this.#timer.unref()
    process.once('exit', this.#flush)
  }

  logger(name: string, node?: string): Logger {
    const folder = this.#byNode ? (node ?? nodeAddress()).replace(/[^\w.:-]/g, '_') : ''
    const file = join(this.#dir, folder, `${name}.log`)
    const line = (level: Level) => (message: string) => this.#add(file, name, level, message)
    const error = line('ERROR')
    return {
      debug: line('DEBUG'),
      info: line('INFO'),
      warn: line('WARNING'),
      error: (message, cause) => error(cause === undefined ? message : `${message}\n${detail(cause)}`),
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    process.off('exit', this.#flush)
    this.#write()
  }

  #add(file: string, name: string, level: Level, message: string): void {
    if (LEVELS.indexOf(level) < this.#least) return
    const prefix = `${level} ${stamp(new Date())} [${name}] `
    const text = redact(message)
      .split('\n')
      .map((line) => `${prefix}${line}\n`)
    const lines = this.#pending.get(file)
    if (lines) lines.push(...text)
    else this.#pending.set(file, text)
  }

  #write(): void {
    for (const [file, lines] of this.#pending) {
      this.#pending.delete(file)
      try {
        makeFolderSync(dirname(file))
        if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) >= this.#rotateBytes) renameSync(file, `${file}.1`)
        appendFileSync(file, lines.join(''))
      } catch (error) {
        if (!this.#failed) this.#onFailure(error)
        this.#failed = true
      }
    }
  }
}

/** `warn`, `Warning`, `FATAL` … → one of ours; anything unknown is INFO. */
export function levelOf(text: string | undefined): Level {
  const word = text?.toUpperCase() ?? ''
  if (word === 'WARN') return 'WARNING'
  if (word === 'CRITICAL' || word === 'FATAL') return 'ERROR'
  return LEVELS.find((level) => level === word) ?? 'INFO'
}

/** The first address that others can reach; a machine without a network goes by its name. */
function nodeAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((some) => some ?? [])
  return all.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? hostname()
}

function stamp(at: Date): string {
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

function detail(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}
