import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { messageOf, TrinityError } from '../../../base/error.js'
import { moduleUrl } from '../../../plugin/module-url.js'
import type { Answer, Base, Call, Request } from './protocol.js'

/** To load WebAssembly on a machine that is busy. */
const START_MS = 30_000

/** One thread that runs SQL, one statement at a time. It never keeps this process alive without one. */
export class SqlThread {
  readonly #worker: Worker
  readonly #known = new Set<string>()
  #isNew = true
  #ended: Error | undefined
  #end: ((error: Error) => void) | undefined

  constructor() {
    const sqlite = pathToFileURL(createRequire(import.meta.url).resolve('@sqlite.org/sqlite-wasm')).href
    const functions = moduleUrl('mysql-functions', import.meta.url).href
    this.#worker = new Worker(moduleUrl('worker', import.meta.url), {
      workerData: { sqlite, functions },
      resourceLimits: { maxOldGenerationSizeMb: 256 },
      execArgv: [],
    })
    this.#worker.unref()
    this.#worker.once('error', (error) => this.#over(error))
    this.#worker.once('exit', (code) => this.#over(new Error(`the thread ended with ${code}`)))
  }

  get isAlive(): boolean {
    return this.#ended === undefined
  }

  /** A statement for which the thread has to be ended took too long, or too much memory. */
  async run(base: Base, call: Call): Promise<Answer> {
    if (this.#ended) throw failed(this.#ended)
    const isNew = this.#isNew
    const limit = call.limits.ms * (call.journal.length + 1) + (this.#known.has(base.key) ? 0 : START_MS)
    const request: Request = { ...call, ...(!this.#known.has(base.key) && { open: base }) }
    this.#known.add(base.key)
    let timer: NodeJS.Timeout | undefined
    let take: ((answer: Answer) => void) | undefined
    try {
      this.#worker.ref()
      return await new Promise<Answer>((resolve, reject) => {
        take = (answer) => resolve(answer)
        this.#end = reject
        timer = setTimeout(() => {
          resolve({ kind: 'error', message: 'it took too long' })
          this.end()
        }, limit)
        this.#worker.once('message', take)
        this.#worker.postMessage(request)
      })
    } catch (error) {
      // One that has worked before was ended by what it was given: its memory is limited.
      if (isNew) throw failed(error)
      return { kind: 'error', message: 'it took too much memory' }
    } finally {
      clearTimeout(timer)
      if (take) this.#worker.off('message', take)
      this.#end = undefined
      this.#isNew = false
      this.#worker.unref()
    }
  }

  end(): void {
    this.#over(new Error('the thread was ended'))
    void this.#worker.terminate()
  }

  #over(error: Error): void {
    this.#ended ??= error
    this.#end?.(error)
  }
}

function failed(cause: unknown): TrinityError {
  return new TrinityError('environment/sql', `the thread that runs SQL failed: ${messageOf(cause)}`, { cause })
}
