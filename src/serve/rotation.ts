import type {
  Call,
  ModelInfo,
  OnToken,
  Row,
  RowScores,
  Sample,
  SampleModel,
  SampleRequest,
} from '../engine/contract.js'

/** A sampler and what it is doing. */
interface Place {
  readonly sampler: SampleModel
  requests: number
  running: number
  /** New requests go elsewhere. */
  resting: boolean
  /** Told when nothing runs any more. */
  idle?: () => void
}

export interface RotationOptions {
  /** `min_running_model_num`: samplers that new requests find while another one gets weights. */
  readonly least: number
  /** How long a sampler that is to get weights may take to finish its requests. */
  readonly waitMs: number
}

/** Loads weights into one sampler. */
export type LoadWeights = (sampler: SampleModel, inFlight: 'finish' | 'continue') => Promise<void>

/**
 * Several samplers as one: requests go round. New weights come to one sampler after the other. While there are others
 * enough, it first finishes what it has begun; a sampler that cannot be spared takes them at once, and its requests go on
 * with them. Either way no request is cut.
 */
export class Rotation implements Pick<SampleModel, 'info' | 'version' | 'sample' | 'score'> {
  readonly #places: readonly Place[]
  readonly #options: RotationOptions
  #next = 0

  /** A sampler may stand for several engines: it is then there several times. */
  constructor(samplers: readonly SampleModel[], options: RotationOptions) {
    this.#places = [...new Set(samplers)].map((sampler) => ({ sampler, requests: 0, running: 0, resting: false }))
    this.#options = options
  }

  get info(): ModelInfo {
    return this.#places[0].sampler.info
  }

  /** The newest. */
  get version(): number {
    return Math.max(...this.#places.map(({ sampler }) => sampler.version))
  }

  /** Each sampler, as the metrics show it. */
  get counts(): { requests: number; version: number }[] {
    return this.#places.map(({ requests, sampler }) => ({ requests, version: sampler.version }))
  }

  async sample(request: SampleRequest, call: Call, onToken?: OnToken): Promise<Sample[]> {
    const place = this.#take()
    place.requests++
    place.running++
    try {
      return await place.sampler.sample(request, call, onToken)
    } finally {
      if (--place.running === 0) place.idle?.()
    }
  }

  score(rows: readonly Row[], call: Call): Promise<RowScores[]> {
    return this.#take().sampler.score(rows, call)
  }

  /** Gives every sampler new weights. */
  async update(load: LoadWeights, signal: AbortSignal): Promise<void> {
    for (const place of this.#places) {
      signal.throwIfAborted()
      const others = this.#places.length - 1
      if (others === 0 || others < this.#options.least) await load(place.sampler, 'continue')
      else await this.#rest(place, load, signal)
    }
  }

  async #rest(place: Place, load: LoadWeights, signal: AbortSignal): Promise<void> {
    place.resting = true
    try {
      const isIdle = await this.#emptied(place, signal)
      await load(place.sampler, isIdle ? 'finish' : 'continue')
    } finally {
      place.resting = false
      place.idle = undefined
    }
  }

  /** Whether the sampler has come to rest in time. */
  #emptied(place: Place, signal: AbortSignal): Promise<boolean> {
    if (place.running === 0) return Promise.resolve(true)
    return new Promise((resolve) => {
      const end = (isIdle: boolean) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
        resolve(isIdle)
      }
      const stop = () => end(false)
      const timer = setTimeout(stop, this.#options.waitMs)
      signal.addEventListener('abort', stop, { once: true })
      place.idle = () => end(true)
    })
  }

  #take(): Place {
    const places = this.#places
    for (let tries = 0; tries < places.length; tries++) {
      const place = places[this.#next]
      this.#next = (this.#next + 1) % places.length
      if (!place.resting) return place
    }
    return places[0]
  }
}
