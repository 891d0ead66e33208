import { type ChildProcess, fork } from 'node:child_process'
import { TrinityError } from '../../base/error.js'
import { LogRing } from '../../base/log/log-ring.js'
import { fromWireError } from '../../explorer/isolation/wire-error.js'
import type { AskOptions, FromChild, ToChild, Worker } from './message.js'

export interface ChildOptions {
  /** A compiled module that calls `serve`. */
  readonly file: string
  readonly args?: readonly string[]
  /** As it reads in an error: `the checker`. */
  readonly name: string
  /** It ends after so long without work, and begins again when it is asked. */
  readonly idleMs: number
}

interface Waiting {
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
  readonly onPart?: (part: never) => void
}

/** A process that works for the server, so that the server always has time for its page. It never outlives the server. */
export class Child implements Worker {
  readonly #options: ChildOptions
  readonly #waiting = new Map<number, Waiting>()
  #process: ChildProcess | undefined
  #idle: NodeJS.Timeout | undefined
  #next = 1

  constructor(options: ChildOptions) {
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#process !== undefined
  }

  get isBusy(): boolean {
    return this.#waiting.size > 0
  }

  ask<T>(method: string, params: object, { onPart, signal }: AskOptions = {}): Promise<T> {
    const id = this.#next++
    clearTimeout(this.#idle)
    const cancel = () => {
      this.#send({ id, cancel: true })
      this.#waiting.get(id)?.reject(signal?.reason)
      this.#forget(id)
    }
    signal?.addEventListener('abort', cancel, { once: true })
    return new Promise<T>((resolve, reject) => {
      signal?.throwIfAborted()
      this.#waiting.set(id, { resolve, reject, onPart })
      this.#send({ id, method, params })
    }).finally(() => signal?.removeEventListener('abort', cancel))
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const child = this.#process
    if (child === undefined) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
  }

  #send(message: ToChild): void {
    this.#process ??= this.#start()
    this.#process.send(message, () => {})
  }

  #start(): ChildProcess {
    const { file, args = [], name } = this.#options
    const child = fork(file, [...args], { serialization: 'advanced', stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    const said = new LogRing()
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => said.push(text))
    child.on('message', (message) => this.#hear(message as FromChild))
    child.on('error', () => {})
    child.once('exit', (code, signal) => {
      if (this.#process === child) this.#process = undefined
      const words = said.last().join('\n')
      const error = new TrinityError('studio/child', `${name} ended (${signal ?? `code ${code}`})`, {
        hint: words === '' ? 'try again' : words,
      })
      for (const [id, { reject }] of this.#waiting) {
        reject(error)
        this.#waiting.delete(id)
      }
    })
    return child
  }

  #hear(message: FromChild): void {
    const waiting = this.#waiting.get(message.id)
    if (waiting === undefined) return
    if ('part' in message) {
      waiting.onPart?.(message.part as never)
      return
    }
    if ('error' in message) waiting.reject(fromWireError(message.error))
    else waiting.resolve(message.result as never)
    this.#forget(message.id)
  }

  #forget(id: number): void {
    this.#waiting.delete(id)
    if (this.#waiting.size > 0) return
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => void this.close(), this.#options.idleMs)
    this.#idle.unref()
  }
}
