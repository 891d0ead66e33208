import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, TrinityError } from '../../base/error.js'
import type { JsonObject } from '../../base/file/json-file.js'
import type { Ground, Room, RoomWish } from '../../machine/ground/ground.js'
import type { Roster, RosterWorker } from '../../machine/ground/roster.js'
import type { Request, WorkerAnswer, WorkerConnection } from './connection.js'
import { Door } from './door.js'
import { answeredError, areAlone, deathOf, hung, logCause, silence, silentOf } from './failure.js'
import { type Frame, MAX } from './frames.js'
import { WorkerProcess } from './process.js'
import { BEAT_MS } from './pulse.js'

export interface GroupSettings {
  /** The machines that the workers run on. */
  readonly ground: Ground
  /** What they are there: default the only trainer. */
  readonly place?: Pick<RoomWish, 'group' | 'of' | 'index'>
  /** Nodes that they lie on, equally many on each; default 1. */
  readonly nodes?: number
  /** Number of workers: one for each device. */
  readonly world: number
  /** Which devices of the machine these are; default the first ones. */
  readonly devices?: readonly number[]
  readonly device: 'cuda' | 'cpu'
  /** Where it is written down what the workers do. */
  readonly roster?: Roster
  /** They have their places, and start there. */
  readonly placed?: () => void
  /** Each line that a worker writes. */
  readonly log?: (rank: number, line: string, node?: string) => void
  /** What `python -m` runs. */
  readonly module?: string
  /** How long a cancelled call may take to end before the workers are killed. */
  readonly graceMs?: number
  readonly startMs?: number
  /** How long a worker may give no sign of life, and a collective operation of all of them may take. */
  readonly timeoutMs?: number
  readonly env?: Readonly<Record<string, string>>
}

/** What a worker says of itself at the beginning. */
export interface Hello {
  readonly versions: Readonly<Record<string, string>>
  readonly device: { readonly type: string; readonly name: string; readonly memory: number }
}

const PROTOCOL = 1
const START_MS = 300_000
const GRACE_MS = 30_000
const TIMEOUT_MS = 600_000
/** The longest that closing waits. */
const LEAVE_MS = 15_000
/** After the first death: the others fall over it, and the one with the best story is the cause. */
const SETTLE_MS = 300
/** So often, until the one that the others fell over is seen. */
const MOST_SETTLES = 10
/** How long it may take until somebody knows what became of a worker elsewhere. */
const NEWS_MS = 20_000

/** The workers of one engine. They live and die together. */
export class WorkerGroup {
  readonly hello: Hello
  readonly #workers: readonly WorkerProcess[]
  readonly #connection: WorkerConnection
  readonly #graceMs: number
  readonly #watch: NodeJS.Timeout
  readonly #rooms: readonly Room[]
  readonly ground: Ground
  readonly #seats: readonly RosterWorker[]
  /** What is asked and not answered. */
  readonly #asked: string[] = []
  #state: 'open' | 'ending' | 'ended' = 'open'

  private constructor(
    rooms: readonly Room[],
    seats: readonly RosterWorker[],
    workers: readonly WorkerProcess[],
    connection: WorkerConnection,
    hello: Hello,
    { ground, graceMs = GRACE_MS, timeoutMs = TIMEOUT_MS }: GroupSettings,
  ) {
    this.ground = ground
    this.#rooms = rooms
    this.#seats = seats
    this.#workers = workers
    for (const [i, { pid }] of workers.entries()) seats[i]?.tell({ state: 'ready', pid: pid ?? null })
    this.#connection = connection
    this.hello = hello
    this.#graceMs = graceMs
    connection.trust(MAX, {
      failed: (error) => answeredError(error, workers),
      unanswered: ({ op }) => this.#end(hung(op, graceMs / 1000, workers)),
      broken: (error) => void this.#died(error),
    })
    for (const worker of workers) void worker.exited.then(() => this.#died())
    this.#watch = setInterval(() => this.#look(timeoutMs), BEAT_MS).unref()
  }

  /** Starts the workers and waits until they can take requests. */
  static async start(settings: GroupSettings, signal: AbortSignal): Promise<WorkerGroup> {
    const { ground, world, device, graceMs = GRACE_MS, startMs = START_MS } = settings
    const { place = { group: 'trainer', of: 1, index: 0 } } = settings
    const token = randomBytes(32).toString('hex')
    const door = await Door.open({ token, graceMs })
    const workers: WorkerProcess[] = []
    const stop = new AbortController()
    const timer = setTimeout(() => stop.abort(lateStart(startMs, workers)), startMs)
    const abort = () => stop.abort(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    let rooms: readonly Room[] = []
    const seats: RosterWorker[] = []
    try {
      rooms = await roomsFor(settings, place, stop.signal)
      settings.placed?.()
      const master = await rooms[0].freePort()
      const each = world / rooms.length
      for (let rank = 0; rank < world; rank++) {
        const room = rooms[Math.floor(rank / each)]
        const { node } = room
        const env = { ...workerEnv(settings, rank, master), ...settings.env }
        // each sees its own device alone
        if (ground.spans) env.LOCAL_RANK = '0'
        if (rank === 0) env.TRINITY_TORCH_TOKEN = token
        if (rooms.length > 1 && node !== undefined) env.TRINITY_TORCH_NODE = node
        const reaches = rank === 0 ? { variable: 'TRINITY_TORCH_CONNECT', port: door.port } : undefined
        const meets =
          room === rooms[0] ? undefined : { variable: 'MASTER_PORT', program: workers[0].program, port: master }
        const gpus = ground.spans || device === 'cpu' ? room.devices(rank % each) : [deviceOf(settings, rank)]
        const seat = settings.roster?.add(`${place.group}_${place.index}_${rank}`, room.node, gpus)
        if (seat) seats.push(seat)
        const log = (line: string) => {
          settings.log?.(rank, line, node)
          seat?.tell({ line })
        }
        const { module = 'trinity_torch' } = settings
        workers.push(new WorkerProcess(rank, rank % each, room, { module, env, log, reaches, meets }))
      }
      const death = Promise.race(workers.map((one) => one.exited)).then(async () => {
        await pause(SETTLE_MS)
        throw deathOf(workers)
      })
      const stopped = new Promise<never>((_, reject) => {
        stop.signal.addEventListener('abort', () => reject(stop.signal.reason), { once: true })
        if (stop.signal.aborted) reject(stop.signal.reason)
      })
      const { connection, frame } = await Promise.race([door.guest, death, stopped])
      return new WorkerGroup(rooms, seats, workers, connection, await checkHello(frame, world, workers), settings)
    } catch (error) {
      for (const worker of workers) worker.kill()
      for (const seat of seats) seat.tell({ state: `did not start: ${messageOf(error)}` })
      for (const room of rooms) room.close()
      throw error
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      door.close()
    }
  }

  async request(request: Request, signal: AbortSignal): Promise<WorkerAnswer> {
    this.#asked.push(request.op)
    this.#tellAsked()
    try {
      return await this.#connection.request(request, signal)
    } finally {
      this.#asked.splice(this.#asked.indexOf(request.op), 1)
      this.#tellAsked()
    }
  }

  get pids(): number[] {
    return this.#workers.flatMap(({ pid }) => pid ?? [])
  }

  /** Ends the workers; requests under way fail. */
  async close(): Promise<void> {
    if (this.#state === 'ended') return
    this.#state = 'ending'
    this.#connection.fail(new TrinityError('engine/closed', 'the torch engine is closed'))
    for (const seat of this.#seats) seat.tell({ state: 'ended' })
    for (const worker of this.#workers) worker.leave()
    const timers: NodeJS.Timeout[] = []
    timers.push(setTimeout(() => this.#kill(), Math.min(this.#graceMs, 5000)))
    // one that the kernel cannot end, waiting for a device, is not waited for
    const late = new Promise((resolve) => timers.push(setTimeout(resolve, LEAVE_MS)))
    await Promise.race([Promise.all(this.#workers.map((one) => one.exited)), late])
    for (const timer of timers) clearTimeout(timer)
    for (const room of this.#rooms) room.close()
    this.#state = 'ended'
  }

  #tellAsked(): void {
    if (this.#seats.length === 0) return
    const doing = [...new Set(this.#asked)].map((op) => {
      const count = this.#asked.filter((one) => one === op).length
      return count > 1 ? `${op} ×${count}` : op
    })
    for (const seat of this.#seats) seat.tell({ doing })
  }

  #look(timeoutMs: number): void {
    if (this.#state !== 'open') clearInterval(this.#watch)
    for (const { pulse } of this.#workers) pulse.look()
    const silent = silentOf(this.#workers, timeoutMs)
    if (silent && this.#state === 'open') this.#end(silence(silent))
  }

  async #died(broken?: TrinityError): Promise<void> {
    if (this.#state !== 'open') return
    this.#state = 'ending'
    // of another machine the end comes by another way than the connection, and later
    if (this.ground.spans) await this.#news()
    for (let i = 0; i === 0 || (i < MOST_SETTLES && areAlone(this.#workers)); i++) await pause(SETTLE_MS)
    const dead = this.#workers.some((one) => one.exit !== undefined)
    this.#end(dead || !broken ? deathOf(this.#workers) : broken)
  }

  async #news(): Promise<void> {
    const late = new AbortController()
    const known = this.#workers.map((one) => one.exited)
    await Promise.race([...known, sleep(NEWS_MS, undefined, { signal: late.signal }).catch(() => {})])
    late.abort()
  }

  #end(error: TrinityError): void {
    this.#state = 'ending'
    this.#connection.fail(error)
    for (const seat of this.#seats) seat.tell({ state: `ended: ${error.message}`, doing: [] })
    this.#kill()
    void Promise.all(this.#workers.map((one) => one.exited)).then(() => {
      for (const room of this.#rooms) room.close()
      this.#state = 'ended'
    })
  }

  #kill(): void {
    for (const worker of this.#workers) worker.kill()
  }
}

async function roomsFor(
  { ground, world, nodes = 1, device }: GroupSettings,
  place: Pick<RoomWish, 'group' | 'of' | 'index'>,
  signal: AbortSignal,
): Promise<Room[]> {
  const wish = { group: place.group, of: place.of * nodes, programs: world / nodes, gpu: device === 'cuda' }
  const indices = Array.from({ length: nodes }, (_, i) => place.index * nodes + i)
  const found = await Promise.allSettled(indices.map((index) => ground.room({ ...wish, index }, signal)))
  const rooms = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = found.find((one) => one.status === 'rejected')
  if (!failed) return rooms
  for (const room of rooms) room.close()
  throw failed.reason
}

/** Where devices are not dealt out by somebody else. */
function deviceOf({ devices }: GroupSettings, rank: number): number {
  return devices?.[rank] ?? rank
}

function workerEnv(settings: GroupSettings, rank: number, master: number): Record<string, string> {
  const { world, device, timeoutMs = TIMEOUT_MS } = settings
  const env: Record<string, string> = {
    RANK: String(rank),
    LOCAL_RANK: String(deviceOf(settings, rank)),
    WORLD_SIZE: String(world),
    MASTER_ADDR: '127.0.0.1',
    MASTER_PORT: String(master),
    TRINITY_TORCH_DEVICE: device,
    TRINITY_TORCH_TIMEOUT: String(timeoutMs / 1000),
    // models are folders of this machine: nothing is to be fetched
    HF_HUB_OFFLINE: '1',
    TOKENIZERS_PARALLELISM: 'false',
  }
  if (device === 'cpu' && world > 1) {
    env.OMP_NUM_THREADS = String(Math.max(1, Math.floor(availableParallelism() / world)))
  }
  return env
}

async function checkHello({ header }: Frame, world: number, workers: readonly WorkerProcess[]): Promise<Hello> {
  if (header.event === 'failed') throw await answeredError(header.error, workers)
  if (header.event !== 'hello' || header.protocol !== PROTOCOL || header.world !== world) {
    const found = `protocol ${header.protocol}, ${header.world} ranks`
    throw new TrinityError('engine/version', `the torch worker speaks ${found}; expected ${PROTOCOL} and ${world}`, {
      hint: 'PYTHONPATH seems to hold another trinity_torch: unset it',
      cause: logCause(workers),
    })
  }
  const { versions, device } = header as JsonObject & Hello
  return { versions, device }
}

function lateStart(ms: number, workers: readonly WorkerProcess[]): TrinityError {
  return new TrinityError('engine/worker-hung', `the torch workers were not ready within ${ms / 1000} s`, {
    hint: 'trinity doctor shows whether Python, torch and the GPU work',
    cause: logCause(workers),
  })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
