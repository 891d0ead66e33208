import { TrinityError } from '../../base/error.js'
import type {
  AllowedTokens,
  Call,
  ModelInfo,
  OnToken,
  RewardModel,
  RowScores,
  Sample,
  SampleModel,
} from '../../engine/contract.js'
import { remoteReward, remoteSampler } from '../../engine/remote.js'
import { type Format, formatOf } from '../../grammar/index.js'
import type { FromWorker, Method, ModelCall, Port, ToWorker } from './protocol.js'
import { fromWireError } from './wire-error.js'

/** The models of the explorer, as a worker sees them: every call goes through the port. */
export class PortModels {
  readonly #port: Port<FromWorker, ToWorker>
  readonly #open = new Map<number, Waiting>()
  #versions: readonly number[] = []
  #last = 0

  constructor(port: Port<FromWorker, ToWorker>) {
    this.#port = port
  }

  /** Versions of the weights, by model, as the explorer last told them. */
  tell(versions: readonly number[]): void {
    this.#versions = versions
  }

  /** What the explorer says to a call. */
  hear(message: Extract<ToWorker, { call: number }>): void {
    const waiting = this.#open.get(message.call)
    if (message.kind === 'token') {
      waiting?.onToken?.(...message.token)
      return
    }
    this.tell(message.versions)
    this.#open.delete(message.call)
    if (message.kind === 'answer') waiting?.resolve(message.value)
    else waiting?.reject(fromWireError(message.error))
  }

  sampler(model: number, info: ModelInfo): SampleModel {
    const versions = () => this.#versions
    return remoteSampler(info, {
      get version() {
        return versions()[model]
      },
      sample: ({ allowed, ...request }, call, onToken) => {
        const format = allowed && plainly(allowed)
        return this.#ask<Sample[]>(model, 'sample', { ...request, format }, call, onToken)
      },
      score: (rows, call) => this.#ask<RowScores[]>(model, 'score', rows, call),
    })
  }

  reward(model: number, info: ModelInfo): RewardModel {
    return remoteReward(info, (rows, call) => this.#ask<Float32Array>(model, 'reward', rows, call))
  }

  #ask<T>(
    model: number,
    method: Method,
    input: ModelCall['input'],
    { signal, deadlineMs }: Call,
    onToken?: OnToken,
  ): Promise<T> {
    const call = ++this.#last
    const abort = () => this.#port.post({ kind: 'abort', call })
    return new Promise<unknown>((resolve, reject) => {
      this.#open.set(call, { resolve, reject, onToken })
      this.#port.post({ kind: 'call', call, model, method, input, deadlineMs, streams: onToken !== undefined })
      if (signal?.aborted) abort()
      signal?.addEventListener('abort', abort, { once: true })
    }).finally(() => signal?.removeEventListener('abort', abort)) as Promise<T>
  }
}

function plainly(allowed: AllowedTokens): Format {
  const format = formatOf(allowed)
  if (format) return format
  throw new TrinityError('engine/unsupported', 'a function that constrains the sampling cannot leave its worker', {
    path: 'explorer.isolation',
    hint: 'ask for a format (response_format, guided_regex, …), or set explorer.isolation: none',
  })
}

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  readonly onToken?: OnToken
}
