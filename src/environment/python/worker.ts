import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityError } from '../../base/error.js'
import type { JsonObject } from '../../base/file/json-file.js'
import { PythonProcess } from '../../machine/python/process.js'
import { answeredError, deathOf, killedWith, timedOut } from './failure.js'
import { encodeFrame, FrameReader, MAX_FRAME } from './frames.js'
import { PlacedProcess, type WorldPlace, type WorldProcess } from './placed-process.js'

export interface WorkerSettings {
  readonly python: string
  readonly log?: (line: string) => void
  /** Absent: beside this process. */
  readonly place?: WorldPlace
  /** How long a worker without worlds is kept. */
  readonly idleMs?: number
}

/** A call of a world. `what`: as it reads in an error; `timeoutMs`: how long it may take once it is its turn. */
export interface WorldCall {
  readonly op: 'open' | 'reset' | 'step' | 'close'
  readonly slot: number
  readonly given: unknown
  readonly what: string
  readonly timeoutMs: number
}

interface Pending extends WorldCall {
  readonly sentAt: number
  resolve(answer: JsonObject): void
  reject(error: unknown): void
}

/** Some worlds walk over sets of strings: with a hash of its own, each worker would play other episodes. */
const ENV = { PYTHONHASHSEED: '0' }
const IDLE_MS = 600_000
/** The last lines come by another way than the end. */
const LOG_MS = 50
/** How often those who wait are looked after. */
const WATCH_MS = 200

/**
 * One process with many worlds. Calls of one turn of the event loop leave in one write; the worker takes them in order,
 * so that whoever has waited longest is the one it works on.
 */
export class WorldWorker {
  readonly #settings: WorkerSettings
  readonly #process: WorldProcess
  readonly #reader = new FrameReader()
  readonly #pending = new Map<number, Pending>()
  readonly #slots = new Set<number>()
  #queue: string[] = []
  #queued = 0
  #next = 1
  #answeredAt = 0
  #watching: NodeJS.Timeout | undefined
  #watchedAt = 0
  #idle: NodeJS.Timeout | undefined
  #dead: TrinityError | undefined

  constructor(settings: WorkerSettings) {
    this.#settings = settings
    const { python, log, place } = settings
    this.#process = place
      ? new PlacedProcess({ place, python, env: ENV, log })
      : new PythonProcess({ python, module: 'trinity_world', env: ENV, output: 'data', log })
    this.#process.output.on('data', (chunk: Buffer) => this.#take(chunk))
    void this.#process.exited.then(async () => {
      await sleep(LOG_MS)
      this.#end(deathOf(this.#process, python))
    })
    this.#rest()
  }

  get isAlive(): boolean {
    return this.#dead === undefined && this.#process.exit === undefined
  }

  /** Worlds that are open here. */
  get load(): number {
    return this.#slots.size
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** A place for a world; calls name it. */
  takeSlot(): number {
    const slot = this.#next++
    this.#slots.add(slot)
    clearTimeout(this.#idle)
    return slot
  }

  freeSlot(slot: number): void {
    this.#slots.delete(slot)
    if (this.#slots.size === 0) this.#rest()
  }

  call(call: WorldCall): Promise<JsonObject> {
    if (this.#dead) return Promise.reject(this.#dead)
    const id = this.#next++
    // most calls are steps: a text, which needs no look at its parts
    const given = typeof call.given === 'string' ? JSON.stringify(call.given) : JSON.stringify(call.given, jsonValue)
    const text = `[${id},"${call.op}",${call.slot},${given}]`
    if (text.length > MAX_FRAME / 4) {
      const message = `${call.what}: ${text.length} characters are too many for one call`
      return Promise.reject(new TrinityError('environment/too-large', message))
    }
    return new Promise((resolve, reject) => {
      if (this.#pending.size === 0) this.#wait(true)
      this.#pending.set(id, { ...call, sentAt: performance.now(), resolve, reject })
      if (this.#queued + text.length > MAX_FRAME / 4) this.#flush()
      if (this.#queue.length === 0) setImmediate(() => this.#flush())
      this.#queue.push(text)
      this.#queued += text.length
    })
  }

  #flush(): void {
    if (this.#queue.length === 0 || this.#dead) return
    const frame = encodeFrame(this.#queue)
    this.#queue = []
    this.#queued = 0
    this.#process.input.write(frame)
  }

  #take(chunk: Buffer): void {
    if (this.#dead) return
    this.#answeredAt = performance.now()
    try {
      for (const answers of this.#reader.push(chunk)) for (const answer of answers) this.#deal(answer)
    } catch (error) {
      this.#process.kill()
      this.#end(error as TrinityError)
    }
    if (this.#pending.size === 0) this.#wait(false)
  }

  #deal(answer: unknown): void {
    const [id, isOk, result] = Array.isArray(answer) ? answer : []
    const asked = this.#pending.get(id)
    if (!asked) throw new TrinityError('environment/frame', 'a Python worker answered what was not asked')
    this.#pending.delete(id)
    if (isOk === 1) asked.resolve(result as JsonObject)
    else asked.reject(answeredError(result, asked.what))
  }

  #wait(begins: boolean): void {
    this.#process.keepsAlive(begins)
    clearInterval(this.#watching)
    this.#watchedAt = performance.now()
    if (begins) this.#watching = setInterval(() => this.#watch(), WATCH_MS)
  }

  /** Whoever has waited longest is worked on, and may take so long since the last answer. */
  #watch(): void {
    const now = performance.now()
    // this process was busy itself: an answer may lie there unread
    const wasBusy = now - this.#watchedAt > 3 * WATCH_MS
    this.#watchedAt = now
    const [oldest] = this.#pending.values()
    if (wasBusy || now - Math.max(this.#answeredAt, oldest.sentAt) < oldest.timeoutMs) return
    oldest.reject(timedOut(oldest.what, oldest.timeoutMs, this.#process))
    this.#process.kill()
    this.#end(killedWith(oldest.what))
  }

  #end(error: TrinityError): void {
    if (this.#dead) return
    this.#dead = error
    clearTimeout(this.#idle)
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
    this.#process.leave()
    this.#wait(false)
  }

  /** Without worlds it is kept for a while: the next may come soon, and starting takes seconds. */
  #rest(): void {
    const end = () => this.#end(new TrinityError('environment/closed', 'a Python worker was closed'))
    clearTimeout(this.#idle)
    this.#idle = setTimeout(end, this.#settings.idleMs ?? IDLE_MS).unref()
  }
}

/** Rows of columnar files hold numbers that JSON does not. */
function jsonValue(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}
