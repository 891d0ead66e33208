import { TrinityError } from '../../base/error.js'
import type { JsonObject } from '../../base/file/json-file.js'
import { rememberHashes } from '../../base/file/written-hash.js'
import { checkedMasks } from '../allowed-tokens.js'
import { within } from '../calls.js'
import { type CheckedRequest, checkRequest } from '../checked-request.js'
import type {
  Call,
  InFlight,
  ModelSpec,
  OnToken,
  Row,
  RowScores,
  Sample,
  SampleModel,
  SampleRequest,
  SamplerStats,
  SampleSpec,
  VersionSpan,
  WeightReceiver,
} from '../contract.js'
import { checkRows } from '../pack.js'
import type { WorkerAnswer } from './connection.js'
import type { FrameTensor } from './frames.js'
import type { WorkerGroup } from './group.js'
import { Guide } from './guide.js'
import { dealScores, rowTensors } from './rows.js'
import { TorchModel } from './worker-model.js'

/** Tokens that `score` computes at once. */
const SCORE_TOKENS = 8192
/** How workers broadcast weights to each other: by a process group, or through Trinity where they are on several machines. */
export function protocolOf({ ground }: WorkerGroup): string {
  return ground.spans ? 'trinity-relay' : 'trinity-torch'
}

const NEVER = new AbortController().signal
/** Tokens of a page of the cache. */
const PAGE = 32

/** Samples in a worker; many requests at once, in one batch that changes from step to step. */
export class TorchSampleModel extends TorchModel implements SampleModel {
  /** Of the weights in use; a transfer sets it. */
  version = -1
  readonly receiver: WeightReceiver = {
    protocol: protocolOf(this.group),
    join: async (group, rank, signal) => void (await this.ask('link', { ...group, rank }, signal)),
    hold: async (inFlight, signal) => void (await this.ask('hold', { inFlight }, signal)),
    receive: async (signal) => String((await this.ask('receiveWeights', {}, signal)).result.checksum),
    commit: async (version) => {
      await this.ask('commit', version === undefined ? {} : { version }, NEVER)
      if (version !== undefined) this.version = version
    },
  }
  #stats: SamplerStats = {
    running: 0,
    waiting: 0,
    cacheTokensUsed: 0,
    cacheTokens: Number.MAX_SAFE_INTEGER,
    promptTokens: 0,
    cachedTokens: 0,
    sampledTokens: 0,
  }
  #requests = 0

  async sample(request: SampleRequest, call: Call, onToken?: OnToken): Promise<Sample[]> {
    this.check()
    const wish = checkRequest(request, {
      info: this.info,
      cacheTokens: this.#stats.cacheTokens,
      seed: { low: this.#requests++, high: (this.spec.seed ?? 0) | 0 },
    })
    const prompt = request.prompt.slice()
    return within(call, 'sample', async (signal, stop) => {
      // nothing was computed, which is what there is
      if (signal.aborted) return Array.from({ length: request.n }, nothing)
      let failure: { error: unknown } | undefined
      const { n, params, promptLogprobs = false, allowed } = request
      const guide = allowed && new Guide(checkedMasks(allowed, this.info.vocabSize), n)
      const onEvent = ({ samples, tokens, logprobs, asks, request: number }: JsonObject) => {
        if (failure) return
        const fail = (error: unknown) => {
          failure ??= { error }
          stop(error)
        }
        try {
          for (const [i, index] of (samples as number[]).entries()) {
            const token = (tokens as number[])[i]
            guide?.take(index, token)
            onToken?.(index, token, (logprobs as number[])[i])
          }
          if (!guide || !asks) return
          const { args, tensors } = guide.masks(asks as number[])
          this.ask('allow', { ...args, request: number }, NEVER, tensors).catch(fail)
        } catch (error) {
          fail(error)
        }
      }
      const first = guide?.masks()
      const args = {
        model: this.handle,
        n,
        wish: { ...wish, ends: [...wish.ends], stopIds: [...wish.stopIds] },
        stop: params.stop ?? [],
        promptLogprobs,
        stream: onToken !== undefined,
        ...first?.args,
      }
      const tensors = { prompt, ...first?.tensors }
      const answer = await this.group.request({ op: 'sample', args, tensors, onEvent }, signal)
      if (failure) throw failure.error
      this.tell(answer)
      return samplesOf(answer, wish)
    })
  }

  score(rows: readonly Row[], call: Call): Promise<RowScores[]> {
    return within(call, 'score', async (signal) => {
      checkRows(rows, this.info)
      const args = { wants: ['logprob'], adapter: true, tokenBudget: SCORE_TOKENS, columns: {} }
      const { tensors } = await this.ask('forward', args, signal, rowTensors(rows))
      return dealScores(rows, ['logprob'], tensors)
    })
  }

  saveWeights(dir: string, call: Call): Promise<void> {
    return within(call, `saving weights to ${dir}`, async (signal) =>
      rememberHashes(dir, (await this.ask('saveWeights', { dir }, signal)).result.files),
    )
  }

  loadWeights(dir: string, version: number, inFlight: InFlight, call: Call): Promise<void> {
    return within(call, `loading weights from ${dir}`, async (signal) => {
      await this.ask('loadWeights', { dir, version, inFlight }, signal)
      this.version = version
    })
  }

  /** As of the last answer. */
  stats(): SamplerStats {
    return this.#stats
  }

  tell({ result }: Pick<WorkerAnswer, 'result'>): void {
    if (result.stats !== undefined) this.#stats = result.stats as unknown as SamplerStats
  }
}

/** What the worker is told of a sampler; refuses numbers that make no sense. */
export function samplerSpec({ shareWith: _, ...spec }: SampleSpec): ModelSpec {
  const check = (name: 'maxModelLen' | 'maxQueue' | 'maxBatch' | 'cacheTokens', least: number) => {
    const value = spec[name]
    if (value === undefined || (Number.isInteger(value) && value >= least)) return
    if (name === 'maxQueue' && value === Infinity) return
    throw new TrinityError('engine/bad-spec', `${name} is ${value}`, {
      path: name,
      hint: `use a whole number, ${least} or more`,
    })
  }
  check('maxModelLen', 1)
  check('maxQueue', 0)
  check('maxBatch', 1)
  check('cacheTokens', PAGE)
  // JSON has no infinity
  return { ...spec, ...(spec.maxQueue === Infinity && { maxQueue: 'Infinity' }) }
}

interface Described {
  readonly length: number
  readonly finish: Sample['finish']
  readonly stoppedBy?: string | number
  readonly versions: readonly VersionSpan[]
}

function samplesOf({ result, tensors }: WorkerAnswer, wish: CheckedRequest): Sample[] {
  const floats = (name: string) => tensors.get(name)?.data as Float32Array | undefined
  const [tokens, logprobs] = [tensors.get('tokens')?.data as Int32Array, floats('logprobs') as Float32Array]
  const [drawn, promptLogprobs] = [floats('drawn'), floats('promptLogprobs')]
  let at = 0
  return (result.samples as unknown as Described[]).map(({ length, finish, stoppedBy, versions }): Sample => {
    const [from, to] = [at, at + length]
    at = to
    return {
      tokens: tokens.slice(from, to),
      logprobs: logprobs.slice(from, to),
      ...(drawn && { drawnLogprobs: drawn.slice(from, to) }),
      ...(wish.top > 0 && { topLogprobs: topOf(tensors, wish.top, from, to) }),
      ...(promptLogprobs && { promptLogprobs }),
      finish,
      ...(stoppedBy !== undefined && { stoppedBy }),
      versions,
      cachedTokens: result.cachedTokens as number,
    }
  })
}

function topOf(tensors: ReadonlyMap<string, FrameTensor>, count: number, from: number, to: number) {
  const ids = tensors.get('topTokens')?.data as Int32Array
  const values = tensors.get('topLogprobs')?.data as Float32Array
  return Array.from({ length: to - from }, (_, i) => {
    const a = (from + i) * count
    return { tokens: ids.slice(a, a + count), logprobs: values.slice(a, a + count) }
  })
}

function nothing(): Sample {
  return { tokens: new Int32Array(0), logprobs: new Float32Array(0), finish: 'abort', versions: [], cachedTokens: 0 }
}
