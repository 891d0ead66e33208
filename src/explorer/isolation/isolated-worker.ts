import { TrinityError } from '../../base/error.js'
import type { Logger } from '../../base/log/logger.js'
import { nextCall } from '../../engine/calls.js'
import type { OnToken, RewardModel, Row, SampleModel } from '../../engine/contract.js'
import { allowedFor } from '../../grammar/index.js'
import type { RolloutJob } from '../job.js'
import { rolloutOver } from '../over.js'
import type { Performed, RunPlace } from '../workplace.js'
import type { Channel, FromWorker, ModelCall, PlainRequest, Setup } from './protocol.js'
import type { ServedModel } from './setup.js'
import { fromWireError, toWireError } from './wire-error.js'

/** A worker as the explorer sees it: it runs one rollout at a time, and asks for the models meanwhile. */
export class IsolatedWorker {
  /** Fails where the worker cannot be used. */
  readonly ready: Promise<void>
  readonly #channel: Channel
  readonly #models: readonly ServedModel[]
  readonly #loggerOf: (runner: number) => Logger
  readonly #note: (text: string) => void
  readonly #calls = new Map<number, AbortController>()
  #begun!: { resolve: () => void; reject: (error: unknown) => void }
  #task: Current | undefined
  #end: TrinityError | undefined

  constructor(
    channel: Channel,
    setup: Setup,
    models: readonly ServedModel[],
    { loggerOf, note }: { loggerOf: (runner: number) => Logger; note: (text: string) => void },
  ) {
    this.#channel = channel
    this.#models = models
    this.#loggerOf = loggerOf
    this.#note = note
    this.ready = new Promise((resolve, reject) => {
      this.#begun = { resolve, reject }
    })
    this.ready.catch(() => {})
    channel.hold(true)
    const release = () => channel.hold(this.isBusy)
    this.ready.then(release, release)
    channel.onMessage((message) => this.#hear(message))
    channel.onEnd((reason) => this.#over(ended(reason, this.#task?.job)))
    channel.post({ kind: 'setup', setup })
  }

  get isBusy(): boolean {
    return this.#task !== undefined
  }

  /** It takes rollouts. */
  get isAlive(): boolean {
    return this.#end === undefined
  }

  perform(job: RolloutJob, place: RunPlace, signal: AbortSignal): Promise<Omit<Performed, 'drift'>> {
    return new Promise((resolve, reject) => {
      if (this.#end) return reject(this.#end)
      const cancel = () => this.#channel.post({ kind: 'cancel', reason: toWireError(signal.reason) })
      const settle = <T>(then: (value: T) => void) => {
        return (value: T) => {
          signal.removeEventListener('abort', cancel)
          this.#task = undefined
          this.#channel.hold(false)
          for (const control of this.#calls.values()) control.abort(rolloutOver(job.task.workflow))
          this.#calls.clear()
          then(value)
        }
      }
      this.#channel.hold(true)
      this.#task = { job, runner: place.runner, resolve: settle(resolve), reject: settle(reject) }
      try {
        const { entry: _, ...plain } = job
        this.#channel.post({ kind: 'rollout', job: plain, place, versions: this.#versions() })
      } catch (cause) {
        return this.#task.reject(notPlain(job, cause))
      }
      if (signal.aborted) cancel()
      signal.addEventListener('abort', cancel, { once: true })
    })
  }

  kill(): void {
    this.#over(new TrinityError('workflow/worker-ended', 'the worker was ended'))
    this.#channel.kill()
  }

  #over(error: TrinityError): void {
    this.#end ??= error
    this.#begun.reject(this.#end)
    this.#task?.reject(this.#end)
  }

  #hear(message: FromWorker): void {
    const task = this.#task
    const { kind } = message
    if (kind === 'ready') this.#begun.resolve()
    else if (kind === 'failed') this.#begun.reject(fromWireError(message.error))
    else if (kind === 'call') void this.#answer(message)
    else if (kind === 'abort') this.#calls.get(message.call)?.abort(ABORTED)
    else if (kind === 'done') task?.resolve(message)
    else if (kind === 'undone') task?.reject(fromWireError(message.error))
    else if (kind === 'note') this.#note(message.text)
    else if (kind === 'log') {
      const { level, text, cause } = message
      this.#loggerOf(task?.runner ?? 0)[level](text, cause && fromWireError(cause))
    } else {
      task?.reject(fromWireError(message.error))
      this.kill()
    }
  }

  async #answer(message: ModelCall): Promise<void> {
    const { call, streams } = message
    // what an earlier rollout has left running gets no answer
    if (!this.#task) return
    const control = new AbortController()
    this.#calls.set(call, control)
    const onToken: OnToken | undefined = streams
      ? (...token) => this.#channel.post({ kind: 'token', call, token })
      : undefined
    try {
      const value = await this.#compute(message, control.signal, onToken)
      this.#channel.post({ kind: 'answer', call, value, versions: this.#versions() })
    } catch (error) {
      this.#channel.post({ kind: 'refusal', call, error: toWireError(error), versions: this.#versions() })
    } finally {
      this.#calls.delete(call)
    }
  }

  async #compute({ model, method, input, deadlineMs }: ModelCall, signal: AbortSignal, onToken?: OnToken) {
    const call = nextCall(signal, deadlineMs)
    const { model: one, text } = this.#models[model]
    if (method === 'sample') {
      const { format, ...request } = input as PlainRequest
      const allowed = format && allowedFor(text.tokenizer, one.info, format)
      return (one as SampleModel).sample({ ...request, allowed }, call, onToken)
    }
    if (method === 'score') return (one as SampleModel).score(input as readonly Row[], call)
    return (one as RewardModel).reward(input as readonly Int32Array[], call)
  }

  #versions(): number[] {
    return this.#models.map(({ model }) => ('version' in model ? model.version : 0))
  }
}

interface Current {
  readonly job: RolloutJob
  readonly runner: number
  readonly resolve: (performed: Omit<Performed, 'drift'>) => void
  readonly reject: (error: unknown) => void
}

/** The worker's own side says why. */
const ABORTED = new TrinityError('workflow/over', 'the worker has ended the call')

function ended(reason: string, job: RolloutJob | undefined): TrinityError {
  const text = job ? `the worker of workflow '${job.task.workflow}' is gone: ${reason}` : `a worker is gone: ${reason}`
  return new TrinityError('workflow/worker-ended', text, {
    path: 'explorer.isolation',
    hint: 'the workflow ended its worker, or took more memory than explorer.isolation_memory allows',
  })
}

function notPlain({ task }: RolloutJob, cause: unknown): TrinityError {
  const text = `a task of workflow '${task.workflow}' holds what cannot enter a worker: ${String(cause)}`
  return new TrinityError('explorer/isolation', text, {
    path: 'explorer.isolation',
    hint: 'give tasks plain data only (no functions, no open things), or set explorer.isolation: none',
    cause,
  })
}
