import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { LogRing } from '../base/log/log-ring.js'
import { endProgram } from './ground/end.js'

export interface OwnedProcessSettings {
  readonly command: string
  readonly args: readonly string[]
  /** Instead of ours. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Instead of ours. */
  readonly cwd?: string
  readonly log?: (line: string) => void
  /** Whether standard output is part of the log (default), or read by somebody else. */
  readonly output?: 'log' | 'data'
  /** Whether it says now and then, by a byte on the descriptor BEATS, that it is alive. */
  readonly beats?: boolean
}

/** Where a process gives its signs of life. */
export const BEATS = 3

/** How a process ended. `error`: it could not be started at all. `lost`: elsewhere, and how, as it reads after its name. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly error?: NodeJS.ErrnoException
  readonly lost?: string
}

/**
 * A program that works for this process. Its standard input is a pipe that closes when this process ends, whatever way,
 * and the program is one that ends with it. It never keeps this process alive.
 */
export class OwnedProcess {
  readonly log: LogRing
  readonly exited: Promise<Exit>
  exit: Exit | undefined
  readonly #child: ChildProcess
  /** Everything that it is connected with. */
  readonly #streams: readonly (Readable | Writable | null | undefined)[]

  constructor({ command, args, env = process.env, cwd, log, output = 'log', beats = false }: OwnedProcessSettings) {
    this.log = new LogRing(log)
    // a group of its own: Ctrl-C in a terminal is Trinity's to handle, and what it starts can be ended with it
    const stdio = new Array<'pipe'>(beats ? BEATS + 1 : BEATS).fill('pipe')
    this.#child = spawn(command, [...args], { stdio, detached: true, env, cwd })
    this.#streams = this.#child.stdio
    for (const stream of this.#streams) stream?.on('error', () => {})
    this.keepsAlive(false)
    for (const stream of output === 'log' ? [this.#child.stdout, this.#child.stderr] : [this.#child.stderr]) {
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

  get input(): Writable {
    return this.#child.stdin as Writable
  }

  get output(): Readable {
    return this.#child.stdout as Readable
  }

  /** Its signs of life, where it was asked for them. */
  get beats(): Readable | undefined {
    return (this.#child.stdio[BEATS] as Readable | null | undefined) ?? undefined
  }

  /** Sets whether this process stays alive for output and the exit of the program. Default: it does not. */
  keepsAlive(stays: boolean): void {
    // also the process itself: it may close its streams before it ends
    if (stays) this.#child.ref()
    else this.#child.unref()
    for (const stream of this.#streams) {
      const handle = stream as unknown as { ref?(): void; unref?(): void } | null
      if (stays) handle?.ref?.()
      else handle?.unref?.()
    }
  }

  /** Asks it to end: it does so at once, unless it is beyond hearing. */
  leave(): void {
    this.#child.stdin?.destroy()
  }

  /** Asks it to end, and ends it where it has not after a while. This process waits for that. */
  async end(graceMs: number): Promise<void> {
    await endProgram(this, graceMs)
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
}
