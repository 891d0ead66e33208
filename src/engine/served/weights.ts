import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Mutex } from '../../base/database/mutex.js'
import { messageOf, TrinityError } from '../../base/error.js'
import { openModelDir } from '../../model/dir.js'
import type { InFlight } from '../contract.js'
import type { Gate } from './gate.js'
import type { Member, ServerPool } from './pool.js'
import type { ServerApi } from './server-api.js'

type Up = Member & { readonly api: ServerApi }

/** What the servers compute with. */
interface InUse {
  readonly version: number
  /** Absent: they arrived over a process group. */
  readonly dir?: string
}

/** The weights of all servers of a pool, which change together. */
export class ServedWeights {
  readonly #pool: ServerPool
  readonly #gate: Gate
  /** Of the model as it was opened. */
  readonly #path: string
  /** A server that comes back while weights change would get the older ones. */
  readonly #changing = new Mutex()
  #inUse: InUse

  constructor(pool: ServerPool, gate: Gate, path: string) {
    this.#pool = pool
    this.#gate = gate
    this.#path = path
    this.#inUse = { version: -1, dir: path }
  }

  get version(): number {
    return this.#inUse.version
  }

  /** Weights from a folder. */
  async load(dir: string, version: number, inFlight: InFlight, signal: AbortSignal): Promise<void> {
    await checkFit(dir, this.#path)
    await this.held(inFlight, signal, async () => {
      await this.#everywhere((api) => api.reload(dir, String(version), { signal }))
      this.#inUse = { version, dir }
    })
  }

  /** Runs work while all servers stand still between two steps. */
  async held(inFlight: InFlight, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const release = await this.hold(inFlight, signal)
    try {
      await work()
    } finally {
      await release()
    }
  }

  /** Brings the servers to a point between two steps. Gives what lets them go on. */
  async hold(inFlight: InFlight, signal: AbortSignal): Promise<() => Promise<void>> {
    await this.#pool.someUp(signal)
    const open = this.#gate.close()
    let standing: ServerApi[] = []
    let change = () => {}
    const release = async () => {
      await Promise.allSettled(standing.map((api) => api.resume()))
      change()
      open()
    }
    try {
      if (inFlight === 'finish') await this.#gate.empty(signal)
      change = await this.#turn()
      const { up } = this.#pool
      standing = up.map(({ api }) => api)
      await all(up.map((member) => this.#trying(member, (api) => api.pause(inFlight, { signal }))))
      return release
    } catch (error) {
      await release()
      throw error
    }
  }

  /** Resolves when nobody else changes the weights of a server. Gives what lets the next one do so. */
  #turn(): Promise<() => void> {
    return new Promise((resolve) => {
      void this.#changing.run(() => new Promise<void>((end) => resolve(end)))
    })
  }

  /** The servers have taken weights that came over a process group. */
  arrived(version: number): void {
    this.#inUse = { version }
  }

  /**
   * Gives a server that was started anew what the others have, and lets it join them. As long as nobody gave them any
   * weights, they have their own.
   */
  restore(api: ServerApi, signal: AbortSignal, join: () => void): Promise<void> {
    return this.#changing.run(async () => {
      if (this.version >= 0) await this.#give(api, signal)
      join()
    })
  }

  async #give(api: ServerApi, signal: AbortSignal): Promise<void> {
    const { dir, version } = this.#inUse
    if (dir !== undefined) return api.reload(dir, String(version), { signal })
    // another server has what came over the process group
    const copy = await mkdtemp(join(tmpdir(), 'trinity-weights-'))
    try {
      await this.save(join(copy, 'model'), signal)
      await api.reload(join(copy, 'model'), String(version), { signal })
    } finally {
      await rm(copy, { recursive: true, force: true })
    }
  }

  /** Writes the weights in use. */
  async save(to: string, signal: AbortSignal): Promise<void> {
    const { dir } = this.#inUse
    if (dir !== undefined) return cp(dir, to, { recursive: true })
    await cp(this.#path, to, { recursive: true, filter: (file) => !/\.(safetensors|bin|index\.json)$/.test(file) })
    const group = this.#pool.up[0]?.api.group
    if (group) return group.save(join(to, 'model.safetensors'), { signal })
    throw new TrinityError('engine/server', 'the weights came over a process group, and no server has them any more', {
      path: this.#path,
      hint: 'the run resumes from its last checkpoint; synchronizer.sync_method: checkpoint keeps weights on disk',
    })
  }

  /** All servers, or none: those that have changed go back when one fails. */
  async #everywhere(change: (api: ServerApi) => Promise<void>): Promise<void> {
    const up = this.#pool.up.map(({ api }, i) => ({ api, member: this.#pool.up[i] }))
    const changed = await Promise.allSettled(up.map(({ api }) => change(api)))
    const failed = changed.flatMap((one, i) => (one.status === 'rejected' ? [{ ...one, member: up[i].member }] : []))
    if (failed.length === 0) return
    // a server that died takes nobody back: it gets the weights when it returns
    const alive: typeof failed = []
    for (const one of failed) if (!(await this.#pool.examine(one.member))) alive.push(one)
    if (alive.length === 0 && failed.length < up.length) return
    await Promise.all(
      up.map(async ({ api, member }) => {
        if (member.api !== api) return
        await this.#give(api, new AbortController().signal).catch((error) =>
          this.#pool.discard(member, `has incomplete weights (${messageOf(error)})`),
        )
      }),
    )
    throw failed[0].reason
  }

  /** A server that is gone stands still as well. */
  async #trying(member: Up, work: (api: ServerApi) => Promise<void>): Promise<void> {
    try {
      await work(member.api)
    } catch (error) {
      if (!(await this.#pool.examine(member))) throw error
    }
  }
}

/** The first error, once everybody has ended. */
async function all(work: readonly Promise<void>[]): Promise<void> {
  for (const one of await Promise.allSettled(work)) if (one.status === 'rejected') throw one.reason
}

/** Whether a folder holds the tensors of the model that the servers have: they must not find out half-way. */
async function checkFit(dir: string, path: string): Promise<void> {
  if (dir === path) return
  const [given, own] = [await openModelDir(dir, { unchecked: true }), await openModelDir(path, { unchecked: true })]
  try {
    const { tieEmbeddings } = own.config
    for (const name of own.tensorNames()) {
      if (tieEmbeddings && name === 'lm_head.weight') continue
      const want = own.tensorInfo(name).shape.join(' × ')
      const found = given.hasTensor(name) ? given.tensorInfo(name).shape.join(' × ') : undefined
      if (found === want) continue
      const what =
        found === undefined ? `lacks the tensor '${name}'` : `has '${name}' with ${found} numbers, not ${want}`
      throw new TrinityError('engine/other-model', `${dir} ${what}`, {
        path: dir,
        hint: 'sampler and trainer must be opened from the same kind of model',
      })
    }
  } finally {
    await Promise.all([given.close(), own.close()])
  }
}
