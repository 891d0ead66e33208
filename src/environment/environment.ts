import type { z } from 'zod'
import type { Logger } from '../base/log/logger.js'
import type { DataRow } from '../task/index.js'
import type { WorldPlace } from './python/placed-process.js'

export type Awaitable<T> = T | Promise<T>

/** Which episode: the row of the task set (a map, a game file, a goal), and a seed for all that the row leaves open. */
export interface EpisodeSpec {
  readonly row: DataRow
  readonly seed: number
  /** What the task set's `format.prompt_key` names, where the row has it. */
  readonly text?: unknown
  /** What `format.response_key` names. */
  readonly truth?: unknown
}

/** How an episode begins. */
export interface Start {
  readonly observation: string
  /** What is to be reached, where the world can say it apart from what is seen. */
  readonly goal?: string
}

/** What a step did. */
export interface Transition {
  /** What is seen now; of the last step too. */
  readonly observation: string
  /** What this step earned. */
  readonly reward: number
  /** The episode is over; no step may follow. */
  readonly done: boolean
  /** What the episode is worth if it ends here. Absent: the sum of its rewards. */
  readonly score?: number
  /** The goal is reached. Absent: it is not, or there is none. */
  readonly won?: boolean
  /** Numbers about the step. A name may end in `:sum`, `:max`, `:min` or `:last`; others are averaged over the steps. */
  readonly metrics?: Readonly<Record<string, number>>
}

/**
 * A world that a model acts in by text. One object plays one episode at a time and many after another; making it may be
 * slow, `reset` should not be. Its calls come one by one, through `openEnvironment`, which also sees to it that nothing
 * is asked of a world before `reset`, after the end, or after `close`.
 *
 * A call may return its result or a promise of it (a simulator in another process, a worker thread). It should end soon
 * after its signal fires; the caller does not wait for it, and whoever is told in this way is reset before it goes on.
 * What goes wrong in the world itself is thrown; a `TrinityError` with a code `environment/…` says best what it was.
 */
export interface Environment {
  /** Begins an episode, whatever was before. The same row and seed, and then the same actions, give the same episode. */
  reset(episode: EpisodeSpec, signal?: AbortSignal): Awaitable<Start>
  /** Takes any text: what is no action of this world is answered in the observation, not by an error. */
  step(action: string, signal?: AbortSignal): Awaitable<Transition>
  /** What `step` understands now, for worlds that can list it. Undefined: not in this state. Changes nothing. */
  admissible?(signal?: AbortSignal): Awaitable<readonly string[] | undefined>
  /** The state, random numbers included, for worlds where that is cheap. Later steps do not change it. */
  snapshot?(): Awaitable<unknown>
  /** Back to a snapshot of this very object, as often as wanted, also after the end. Belongs to `snapshot`. */
  restore?(snapshot: unknown): Awaitable<void>
  /** Lets go of processes, files and memory; called once, also in the middle of an episode or of a call. */
  close?(): Awaitable<void>
}

/** What `create` is given beside its arguments. */
export interface EnvironmentContext {
  /** Fires when nobody waits for the environment any more. */
  readonly signal?: AbortSignal
  readonly logger?: Logger
  /** Machines for processes of its own, where there are others than this one. */
  place?(): Promise<WorldPlace | undefined>
}

/** What a model knows before it acts. */
export interface Turn {
  /** Steps taken so far. */
  readonly step: number
  readonly maxSteps: number
  readonly goal?: string
  readonly observation: string
  readonly admissible?: readonly string[]
  readonly past: readonly PastTurn[]
}

export interface PastTurn {
  readonly observation: string
  readonly prompt: string
  readonly reply: string
  /** Absent: the reply held none. */
  readonly action?: string
  readonly transition: Transition
}

/** How a world talks with a model. It keeps nothing in mind: what it needs of the past stands in the turn. */
export interface Persona {
  /** The rules, for the system message; made once, at the start. Absent or undefined: there is none. */
  system?(turn: Turn): string | undefined
  /** The user's message of a turn. */
  prompt(turn: Turn): string
  /** The action in a reply; or, where the format is wrong, what happens instead of a step in the world. */
  action(reply: string, turn: Turn): string | Transition
}

/** A kind of world, by name in the registry. */
export interface EnvironmentEntry {
  readonly doc: string
  /** Of `environment_args`: unknown names are refused. */
  readonly args: z.ZodObject
  /** Steps of an episode when the configuration gives no limit. */
  readonly maxSteps: number
  /** May be slow and may share what is large with others of its kind. */
  create(args: never, context: EnvironmentContext): Awaitable<Environment>
  persona(args: never): Persona
}

/**
 * Describes a kind of world for the registry; `create` and `persona` get its arguments checked and with their types.
 * @example
 * import { environment, environments, z } from 'trinity-rft'
 *
 * environments.add('parrot', environment({
 *   doc: 'say the word of the row',
 *   args: z.strictObject({}),
 *   maxSteps: 1,
 *   create: () => {
 *     let word = ''
 *     return {
 *       reset: ({ row }) => ({ observation: (word = String(row.word)) }),
 *       step: (action) => ({ observation: '', reward: action === word ? 1 : 0, done: true }),
 *     }
 *   },
 *   persona: () => ({ prompt: ({ observation }) => `Say: ${observation}`, action: (reply) => reply.trim() }),
 * }))
 */
export function environment<S extends z.ZodObject>(entry: {
  doc: string
  args: S
  maxSteps: number
  create(args: z.output<S>, context: EnvironmentContext): Awaitable<Environment>
  persona(args: z.output<S>): Persona
}): EnvironmentEntry {
  return entry
}
