import { TrinityError } from '../../base/error.js'
import type { Logger } from '../../base/log/logger.js'
import type { Config } from '../../config/index.js'
import type { SampleModel } from '../../engine/contract.js'
import { type ContextParts, contextFactory } from '../contexts.js'
import { type Seat, type Workplace, workHere } from '../workplace.js'
import { IsolatedWorker } from './isolated-worker.js'
import { openProcess } from './process.js'
import type { Channel } from './protocol.js'
import { setupOf } from './setup.js'
import { openThread } from './thread.js'

const OPEN: Readonly<Record<Exclude<Config['explorer']['isolation'], 'none'>, (memoryMb: number) => Channel>> = {
  thread: openThread,
  process: openProcess,
}

/** Where the workflows of a configuration run: `explorer.isolation`. */
export function workplaceOf(
  parts: ContextParts,
  loggerOf: (runner: number) => Logger,
  note: (text: string) => void = () => {},
): Workplace {
  const { isolation, isolation_memory } = parts.config.explorer
  if (isolation === 'none') return workHere(contextFactory(parts, loggerOf))
  return workInWorkers(parts, loggerOf, () => OPEN[isolation](isolation_memory), note)
}

/**
 * Every rollout that is under way has a worker to itself, so that whatever it does to it costs nothing else. Workers are
 * opened when they are needed and used again; one that did not come to the end of its rollout is ended.
 */
export function workInWorkers(
  parts: ContextParts,
  loggerOf: (runner: number) => Logger,
  open: () => Channel,
  note: (text: string) => void = () => {},
): Workplace {
  const { setup, models } = setupOf(parts)
  const all = new Set<IsolatedWorker>()
  const idle: IsolatedWorker[] = []
  const notes = new Set<string>()
  const noteOnce = (text: string) => {
    if (!notes.has(text)) note(text)
    notes.add(text)
  }
  let isClosed = false
  const end = (worker: IsolatedWorker) => {
    all.delete(worker)
    worker.kill()
  }
  const seatAt = (worker: IsolatedWorker): Seat => ({
    async perform(job, place, signal) {
      const sampler: SampleModel = parts.model[place.runner % parts.model.length]
      const { version } = sampler
      const performed = await worker.perform(job, place, signal)
      return { ...performed, drift: sampler.version - version }
    },
    leave() {
      if (worker.isAlive && !worker.isBusy) idle.push(worker)
      else end(worker)
    },
  })
  const free = () => {
    for (let one = idle.pop(); one; one = idle.pop()) {
      if (one.isAlive) return one
      end(one)
    }
    return undefined
  }
  return {
    async take(signal) {
      if (isClosed) throw new TrinityError('workflow/worker-ended', 'the workers were ended')
      const worker = free() ?? new IsolatedWorker(open(), setup, models, { loggerOf, note: noteOnce })
      all.add(worker)
      // a worker that starts slowly must not hold up a run that is aborted
      const abort = () => end(worker)
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
      try {
        await worker.ready
        return seatAt(worker)
      } catch (error) {
        end(worker)
        throw error
      } finally {
        signal.removeEventListener('abort', abort)
      }
    },
    async close() {
      isClosed = true
      for (const worker of all) end(worker)
    },
  }
}
