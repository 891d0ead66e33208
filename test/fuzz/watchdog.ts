import { writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'

/** Longest case before the process is ended, in ms. */
const LIMIT_MS = 60_000

const CODE = `
const { workerData, parentPort } = require('node:worker_threads')
const { writeSync } = require('node:fs')
let label
let since = Date.now()
parentPort.on('message', (next) => { label = next; since = Date.now() })
setInterval(() => {
  if (label === undefined || Date.now() - since < workerData.limit) return
  writeSync(2, 'fuzz: still busy after ' + workerData.limit + ' ms: ' + label + '\\n')
  process.kill(process.pid, 'SIGKILL')
}, 1000).unref()
`

/** Names the case that blocks the event loop and ends the process: a hung test thread cannot report itself. */
export class Watchdog {
  readonly #worker = new Worker(CODE, { eval: true, workerData: { limit: LIMIT_MS } })

  constructor() {
    this.#worker.unref()
  }

  /** Starts the clock of the next case. `FUZZ_TRACE=1` prints every case, for those that crash the process. */
  watch(label: string): void {
    if (process.env.FUZZ_TRACE === '1') writeSync(2, `${label}\n`)
    this.#worker.postMessage(label)
  }

  close(): void {
    void this.#worker.terminate()
  }
}
