import { type ChildProcess, spawn } from 'node:child_process'
import type { TrinityErrorOptions } from '../../base/error.js'
import { PYTHON_ROOT } from '../../machine/python/package.js'
import { LogRing } from './log-ring.js'

export interface ProcessSettings {
  readonly python: string
  /** What `python -m` runs. */
  readonly module: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log?: (line: string) => void
}

/** How a worker ended. `error`: it could not be started at all. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly error?: NodeJS.ErrnoException
}

/** What a failed rank says last: see world.py. */
const FAILED_MARK = 'trinity-torch-failed '

/**
 * One worker. Its standard input is a pipe that carries nothing: it closes when this process ends, whatever way, and the
 * worker ends with it. The worker never keeps this process alive.
 */
export class WorkerProcess {
  readonly rank: number
  readonly log: LogRing
  readonly exited: Promise<Exit>
  exit: Exit | undefined
  readonly #child: ChildProcess

  constructor(rank: number, { python, module, env, log }: ProcessSettings) {
    this.rank = rank
    this.log = new LogRing(log)
    // a group of its own: Ctrl-C in a terminal is Trinity's to handle, and what a worker starts can be ended with it
    this.#child = spawn(python, ['-u', '-m', module], {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      env: {
        ...process.env,
        ...env,
        PYTHONPATH: [PYTHON_ROOT, process.env.PYTHONPATH].filter(Boolean).join(':'),
        // the package may lie in a folder that is not ours to write to
        PYTHONDONTWRITEBYTECODE: '1',
      },
    })
    this.#child.unref()
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      ;(stream as unknown as { unref?(): void })?.unref?.()
      stream?.on('error', () => {})
    }
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.log.push(text))
    }
    this.exited = new Promise((resolve) => {
      const end = (exit: Exit) => {
        this.exit ??= exit
        resolve(this.exit)
      }
      this.#child.once('error', (error) => end({ code: null, signal: null, error }))
      this.#child.once('exit', (code, signal) => end({ code, signal }))
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Asks it to end: it does so at once, unless it is beyond hearing. */
  leave(): void {
    this.#child.stdin?.destroy()
  }

  /** Ends it and everything that it started. */
  kill(): void {
    if (this.pid === undefined) return
    try {
      process.kill(-this.pid, 'SIGKILL')
    } catch {
      this.#child.kill('SIGKILL')
    }
  }

  /** What it said about its own failure. */
  failure(): ({ code: string; message: string } & TrinityErrorOptions) | undefined {
    const text = this.log.find(FAILED_MARK)
    try {
      return text === undefined ? undefined : JSON.parse(text)
    } catch {
      return undefined
    }
  }
}
