import type { TrinityErrorOptions } from '../../base/error.js'
import { BEATS } from '../../machine/owned-process.js'
import { PythonProcess, type PythonProcessSettings } from '../../machine/python/process.js'
import { Pulse } from './pulse.js'

/** What a failed rank says last: see world.py. */
const FAILED_MARK = 'trinity-torch-failed '

/** One worker. Its standard input carries nothing; it speaks over a socket. */
export class WorkerProcess extends PythonProcess {
  readonly rank: number
  readonly pulse: Pulse

  constructor(rank: number, settings: PythonProcessSettings) {
    super({ ...settings, env: { ...settings.env, TRINITY_TORCH_BEATS: String(BEATS) }, beats: true })
    this.rank = rank
    this.pulse = new Pulse(this.beats)
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
