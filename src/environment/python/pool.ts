import type { Ground } from '../../machine/ground/ground.js'
import { type WorkerSettings, WorldWorker } from './worker.js'

/** As many workers as allowed, started when they are needed; one that died is replaced when the next world comes. */
export class WorkerPool {
  readonly #size: number
  readonly #settings: WorkerSettings
  #workers: WorldWorker[] = []

  constructor(size: number, settings: WorkerSettings) {
    this.#size = size
    this.#settings = settings
  }

  /** The worker with the fewest worlds; a new one before a second world shares an old one. */
  worker(): WorldWorker {
    this.#workers = this.#workers.filter(({ isAlive }) => isAlive)
    const [first] = [...this.#workers].sort((a, b) => a.load - b.load)
    if (first && (first.load === 0 || this.#workers.length >= this.#size)) return first
    const made = new WorldWorker(this.#settings)
    this.#workers.push(made)
    return made
  }

  get pids(): number[] {
    return this.#workers.flatMap(({ isAlive, pid }) => (isAlive && pid !== undefined ? [pid] : []))
  }
}

/** Beside this process. */
const HERE = {}
/** By the ground of their workers, and by what those are. */
const pools = new WeakMap<Ground | typeof HERE, Map<string, WorkerPool>>()

/** The pool of a Python and a number of workers; all worlds that ask for the same share it. */
export function poolOf(size: number, settings: WorkerSettings): WorkerPool {
  const ground = settings.place?.ground ?? HERE
  const own = pools.get(ground) ?? new Map<string, WorkerPool>()
  pools.set(ground, own)
  const key = `${size} ${settings.python}`
  const pool = own.get(key) ?? new WorkerPool(size, settings)
  own.set(key, pool)
  return pool
}
