import { messageOf, TrinityError } from '../base/error.js'
import { environmentOf } from './args.js'
import type { Awaitable, Environment, EnvironmentContext, EpisodeSpec, Start, Transition } from './environment.js'

/** A state to come back to. */
export interface Snapshot {
  readonly state: unknown
  readonly done: boolean
}

/**
 * Makes an environment by its name. Arguments that it does not take are refused.
 * @example
 * import { openEnvironment } from 'trinity-rft'
 *
 * const world = await openEnvironment('grid_world', { size: 3 })
 * console.log((await world.reset({ row: {}, seed: 1 })).observation)
 * console.log((await world.step('down')).reward)
 * await world.close()
 */
export async function openEnvironment(
  name: string,
  given: Readonly<Record<string, unknown>> = {},
  context: EnvironmentContext = {},
): Promise<OpenEnvironment> {
  const { entry, args } = environmentOf(name, given)
  context.signal?.throwIfAborted()
  const making = attempt(name, 'create', () => entry.create(args, context))
  // One that is made too late is closed by nobody else.
  const late = () => making.then((made) => made.close?.()).catch(() => {})
  return new OpenEnvironment(name, await untilAborted(making, context.signal, late))
}

/**
 * An environment as its users have it. It holds the order of calls (reset, then steps, none after the end or after
 * close), passes on an abort without waiting for the world, and gives every failure its code.
 */
export class OpenEnvironment {
  readonly name: string
  readonly #world: Environment
  #state: 'new' | 'running' | 'done' = 'new'
  #busy = false
  #closing: Promise<void> | undefined

  constructor(name: string, world: Environment) {
    this.name = name
    this.#world = world
  }

  async reset(episode: EpisodeSpec, signal?: AbortSignal): Promise<Start> {
    const start = await this.#call('reset', signal, () => this.#world.reset(episode, signal))
    this.#state = 'running'
    return start
  }

  async step(action: string, signal?: AbortSignal): Promise<Transition> {
    this.#expect('step')
    const transition = await this.#call('step', signal, () => this.#world.step(action, signal))
    const { reward, score = 0 } = transition
    if (!Number.isFinite(reward) || !Number.isFinite(score)) {
      throw new TrinityError('environment/reward', `environment '${this.name}' returned the reward ${reward}`, {
        hint: 'reward and score must be finite numbers',
      })
    }
    this.#state = transition.done ? 'done' : 'running'
    return transition
  }

  /** Undefined: the world cannot tell. At the end there is nothing left to do. */
  async admissible(signal?: AbortSignal): Promise<readonly string[] | undefined> {
    if (this.#state === 'done' && !this.#closing) return []
    this.#expect('admissible')
    return this.#call('admissible', signal, () => this.#world.admissible?.(signal))
  }

  get canRestore(): boolean {
    return this.#world.snapshot !== undefined && this.#world.restore !== undefined
  }

  async snapshot(): Promise<Snapshot> {
    const done = this.#state === 'done'
    if (!done) this.#expect('snapshot')
    this.#expectRestorable()
    return { state: await this.#call('snapshot', undefined, () => this.#world.snapshot?.()), done }
  }

  async restore({ state, done }: Snapshot): Promise<void> {
    this.#expectRestorable()
    await this.#call('restore', undefined, () => this.#world.restore?.(state))
    this.#state = done ? 'done' : 'running'
  }

  /** Any number of times; also while a call that was cut off is still on its way. */
  close(): Promise<void> {
    this.#closing ??= attempt(this.name, 'close', () => this.#world.close?.())
    return this.#closing
  }

  #expectRestorable(): void {
    if (this.canRestore) return
    throw new TrinityError('environment/no-snapshot', `environment '${this.name}' cannot restore a state`, {
      hint: 'reset it with the same row and seed, and take the same actions again',
    })
  }

  #expect(what: string): void {
    if (this.#state === 'running' || this.#closing) return
    const why = this.#state === 'new' ? 'before reset' : 'after the end of the episode'
    throw new TrinityError('environment/order', `environment '${this.name}': ${what} ${why}`, {
      hint: 'call reset to begin an episode; one that was cut off or failed starts over',
    })
  }

  async #call<T>(what: string, signal: AbortSignal | undefined, work: () => Awaitable<T>): Promise<T> {
    if (this.#closing) throw new TrinityError('environment/closed', `environment '${this.name}' is closed`)
    if (this.#busy) {
      throw new TrinityError('environment/busy', `environment '${this.name}' has not finished an earlier call yet`, {
        hint: 'one call at a time; a call that was cut off continues until the environment notices',
      })
    }
    signal?.throwIfAborted()
    this.#busy = true
    // Until this call has ended well, nobody knows where the world stands.
    const before = this.#state
    this.#state = 'new'
    const working = attempt(this.name, what, work).finally(() => {
      this.#busy = false
    })
    const result = await untilAborted(working, signal)
    this.#state = before
    return result
  }
}

/** What a world throws gets a code, so that the failure is counted as the environment's. */
async function attempt<T>(name: string, what: string, work: () => Awaitable<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof TrinityError) throw cause
    throw new TrinityError('environment/failed', `environment '${name}' failed in ${what}: ${messageOf(cause)}`, {
      path: name,
      cause,
    })
  }
}

/** The result, or the signal's reason as soon as it fires. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined, late?: () => void): Promise<T> {
  if (!signal) return work
  let fire: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    fire = () => {
      late?.()
      reject(signal.reason)
    }
    if (signal.aborted) fire()
    else signal.addEventListener('abort', fire, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    if (fire) signal.removeEventListener('abort', fire)
  }
}
