import type { ServedRequest, ServedSample } from '../served/server-api.js'
import type { Choice, Generated } from './wire.js'

/** The samples of a request, out of the pieces in which a server sends them. */
export class Choices {
  readonly #request: ServedRequest
  readonly #open: Open[]
  #cached = 0

  constructor(request: ServedRequest) {
    this.#request = request
    this.#open = Array.from({ length: request.n }, () => new Open())
  }

  /** Gives the tokens that are new. */
  add({ choices, usage }: Generated): { index: number; token: number; logprob: number }[] {
    this.#cached = usage?.prompt_tokens_details?.cached_tokens ?? this.#cached
    return choices.flatMap((choice) =>
      this.#open[choice.index].add(choice, this.#request.wish.top).map((one) => ({ index: choice.index, ...one })),
    )
  }

  /** What there is; a sample without an end was given up. */
  samples(promptLogprobs?: Float32Array): ServedSample[] {
    return this.#open.map((one) => one.sample(this.#request, this.#cached, promptLogprobs))
  }
}

class Open {
  readonly #tokens: number[] = []
  readonly #logprobs: number[] = []
  readonly #top: { tokens: Int32Array; logprobs: Float32Array }[] = []
  #finish: string | null = null
  #stop: string | number | undefined
  #versions: ServedSample['versions'] = []

  add(choice: Choice, top: number): { token: number; logprob: number }[] {
    const { token_ids: ids, logprobs, finish_reason: finish, stop_reason: stop, weight_versions: versions } = choice
    this.#finish = finish ?? this.#finish
    this.#stop = stop ?? this.#stop
    if (versions) this.#versions = versions.map(({ version, start }) => ({ version, from: start }))
    return (ids ?? []).map((token, i) => {
      const told = logprobs?.content?.[i]
      const logprob = told?.logprob ?? Number.NaN
      this.#tokens.push(token)
      this.#logprobs.push(logprob)
      if (top > 0) {
        // the drawn token stands first, and once more where it is among the likeliest
        const ranked = [...new Map((told?.top_logprobs ?? []).map((one) => [one.token_id, one.logprob]))]
        const likeliest = ranked.sort((a, b) => b[1] - a[1]).slice(0, top)
        this.#top.push({
          tokens: Int32Array.from(likeliest, ([id]) => id),
          logprobs: Float32Array.from(likeliest, ([, value]) => value),
        })
      }
      return { token, logprob }
    })
  }

  sample({ wish }: ServedRequest, cachedTokens: number, promptLogprobs?: Float32Array): ServedSample {
    // an end token is one of the stop tokens for the server, and no reason to tell for us
    const stoppedBy = typeof this.#stop === 'number' && !wish.stopIds.has(this.#stop) ? undefined : this.#stop
    const finish = this.#finish === 'stop' || this.#finish === 'length' ? this.#finish : 'abort'
    return {
      tokens: Int32Array.from(this.#tokens),
      logprobs: Float32Array.from(this.#logprobs),
      ...(wish.top > 0 && { topLogprobs: this.#top }),
      ...(promptLogprobs && { promptLogprobs }),
      finish,
      ...(stoppedBy !== undefined && finish === 'stop' && { stoppedBy }),
      versions: this.#versions,
      cachedTokens,
    }
  }
}
