import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityError } from '../../base/error.js'
import { pythonHaving, pythonVariable } from '../../machine/python/having.js'
import { PythonProcess } from '../../machine/python/process.js'

/** Loading Data-Juicer takes long on a busy machine. */
const START_MS = 300_000
const LEAVE_MS = 5000
const LINES = 12
const MODULE = 'data_juicer'
const INSTALL = 'py-data-juicer aiohttp ray'

export interface OwnServiceSettings {
  /** 0: any that is free. */
  readonly port: number
  readonly log?: (line: string) => void
  readonly signal?: AbortSignal
  /** Default: that of TRINITY_DATA_JUICER_PYTHON, else the first that has the package. */
  readonly python?: string
  readonly startMs?: number
}

/** A Data-Juicer service that this process has started. It ends with it, whatever way this process ends. */
export class OwnDataJuicer {
  readonly url: string
  readonly version: string
  readonly #process: PythonProcess
  readonly #dir: string

  private constructor(process: PythonProcess, dir: string, said: { port: number; version: string }) {
    this.#process = process
    this.#dir = dir
    this.url = `http://127.0.0.1:${said.port}`
    this.version = said.version
  }

  static async start(settings: OwnServiceSettings): Promise<OwnDataJuicer> {
    const { port, log, signal, startMs = START_MS } = settings
    const python = settings.python ?? pythonHaving(MODULE)
    if (python === undefined) throw noPython()
    // operators keep what they have worked out in files
    const dir = await mkdtemp(join(tmpdir(), 'trinity-juicer-'))
    const env = { TMPDIR: dir, HF_DATASETS_CACHE: join(dir, 'datasets') }
    const process = new PythonProcess({
      python,
      module: 'trinity_juicer',
      args: [String(port)],
      env,
      log,
      output: 'data',
    })
    try {
      return new OwnDataJuicer(process, dir, await ready(process, python, startMs, signal))
    } catch (error) {
      process.leave()
      process.kill()
      await rm(dir, { recursive: true, force: true })
      throw error
    }
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  async close(): Promise<void> {
    await this.#process.end(LEAVE_MS)
    await rm(this.#dir, { recursive: true, force: true })
  }
}

/** It says where it is as soon as it can be asked. */
async function ready(process: PythonProcess, python: string, startMs: number, signal?: AbortSignal) {
  const done = new AbortController()
  const either = signal ? AbortSignal.any([signal, done.signal]) : done.signal
  const late = sleep(startMs, undefined, { signal: either }).then(() => {
    throw failed(process, python, `was not ready within ${startMs / 1000} s`)
  })
  const died = process.exited.then(({ code, signal: by, error }) => {
    throw failed(process, python, error ? `could not be started: ${error.message}` : `ended at once (${by ?? code})`)
  })
  try {
    return JSON.parse(await Promise.race([firstLine(process.output), late, died])) as { port: number; version: string }
  } finally {
    for (const one of [late, died]) one.catch(() => {})
    done.abort()
  }
}

function firstLine(output: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    output.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')))
    })
  })
}

function failed(process: PythonProcess, python: string, how: string): TrinityError {
  const lines = process.log.last(LINES)
  const why = lines.at(-1)
  return new TrinityError('data-juicer/start', `the Data-Juicer service ${how}${why ? `: ${why}` : ''}`, {
    path: python,
    hint: `in an environment of its own: pip install ${INSTALL}; then set ${pythonVariable(MODULE)} to its python`,
    cause: lines.length > 1 ? new Error(`its last lines:\n    ${lines.join('\n    ')}`) : undefined,
  })
}

function noPython(): TrinityError {
  return new TrinityError('data-juicer/python', 'service.data_juicer.auto_start: no Python here has Data-Juicer', {
    path: 'service.data_juicer.auto_start',
    hint: `in an environment of its own: pip install ${INSTALL}; then set ${pythonVariable(MODULE)} to its python`,
  })
}
