import type { TrinityErrorOptions } from '../../base/error.js'
import { PythonProcess, type PythonProcessSettings } from '../../machine/python/process.js'

/** What a failed rank says last: see world.py. */
const FAILED_MARK = 'trinity-torch-failed '

/** One worker. Its standard input carries nothing; it speaks over a socket. */
export class WorkerProcess extends PythonProcess {
  readonly rank: number

  constructor(rank: number, settings: PythonProcessSettings) {
    super(settings)
    this.rank = rank
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
