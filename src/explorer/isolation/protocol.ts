/** What the explorer and its workers say to each other. Everything is plain data. */

import type { Config, InferenceModelConfig } from '../../config/index.js'
import type { ModelInfo, SampleRequest } from '../../engine/contract.js'
import type { Format } from '../../grammar/index.js'
import type { RolloutJob } from '../job.js'
import type { Performed, RunPlace } from '../workplace.js'
import type { WireError } from './wire-error.js'

/** A tokenizer with its template: a worker opens its own. */
export interface TextSetup {
  readonly dir: string
  readonly template?: { readonly source: string; readonly path: string }
}

/** What a worker needs to make the contexts of workflows. Numbers are places in the list of models. */
export interface Setup {
  readonly explorer: Config['explorer']
  /** Folders of plugins, in order. */
  readonly plugins: readonly string[]
  readonly models: readonly ModelInfo[]
  readonly samplers: readonly number[]
  readonly text: TextSetup
  readonly auxiliary: readonly {
    readonly config: InferenceModelConfig
    readonly text: TextSetup
    readonly samplers?: readonly number[]
    readonly reward?: number
  }[]
}

/** A job without its code. */
export type PlainJob = Omit<RolloutJob, 'entry'>

export type ToWorker =
  | { readonly kind: 'setup'; readonly setup: Setup }
  | { readonly kind: 'rollout'; readonly job: PlainJob; readonly place: RunPlace; readonly versions: readonly number[] }
  /** The rollout is not wanted any more. */
  | { readonly kind: 'cancel'; readonly reason: WireError }
  | { readonly kind: 'token'; readonly call: number; readonly token: readonly [number, number, number] }
  | { readonly kind: 'answer'; readonly call: number; readonly value: unknown; readonly versions: readonly number[] }
  | { readonly kind: 'refusal'; readonly call: number; readonly error: WireError; readonly versions: readonly number[] }

/** A request without functions: masks are told by the format they hold to. */
export type PlainRequest = Omit<SampleRequest, 'allowed'> & { readonly format?: Format }

export type Method = 'sample' | 'score' | 'reward'

export interface ModelCall {
  readonly kind: 'call'
  readonly call: number
  readonly model: number
  readonly method: Method
  readonly input: PlainRequest | readonly unknown[]
  readonly deadlineMs: number
  /** Tokens are wanted as they come. */
  readonly streams: boolean
}

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly error: WireError }
  | ModelCall
  | { readonly kind: 'abort'; readonly call: number }
  | {
      readonly kind: 'log'
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      readonly text: string
      readonly cause?: WireError
    }
  /** For the console of the run, once for all workers. */
  | { readonly kind: 'note'; readonly text: string }
  | ({ readonly kind: 'done' } & Omit<Performed, 'drift'>)
  | { readonly kind: 'undone'; readonly error: WireError }
  /** Something happened outside of every call: the worker is not to be used any more. */
  | { readonly kind: 'fatal'; readonly error: WireError }

/** One end of the line between both. */
export interface Port<Out, In> {
  post(message: Out): void
  onMessage(hear: (message: In) => void): void
}

/** A worker as the explorer holds it. */
export interface Channel extends Port<ToWorker, FromWorker> {
  /** Told once, with the reason in words, when the worker has ended by itself. */
  onEnd(hear: (reason: string) => void): void
  /** Keeps this process alive while it awaits something from the worker. A new channel does not. */
  hold(isHeld: boolean): void
  /** Ends it, whatever it does. */
  kill(): void
}
