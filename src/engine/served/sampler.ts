import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityError } from '../../base/error.js'
import { HttpError } from '../../base/http/error.js'
import { deriveSeed } from '../../base/random/derive-seed.js'
import type { Tokenizer } from '../../model/tokenizer.js'
import { within } from '../calls.js'
import { checkRequest } from '../checked-request.js'
import type {
  Call,
  Caps,
  InFlight,
  MemoryReport,
  ModelInfo,
  OnToken,
  Row,
  RowScores,
  Sample,
  SampleModel,
  SampleRequest,
  SamplerStats,
  WeightReceiver,
} from '../contract.js'
import { checkRows } from '../pack.js'
import { needExact } from './exact.js'
import type { Gate } from './gate.js'
import type { ServerPool } from './pool.js'
import type { ServedRequest, ServedSample } from './server-api.js'
import type { ServedWeights } from './weights.js'

/** Sequences that are scored at once. */
const SCORED = 16
/** Servers that a request is tried on, one after the other. */
const ATTEMPTS = 4
/** A server may not know a request yet when it is to end it. */
const ABORT_EVERY_MS = 50

export interface ServedModelParts {
  readonly path: string
  readonly info: ModelInfo
  readonly caps: Caps
  readonly scoresAnyTemperature: boolean
  readonly pool: ServerPool
  readonly gate: Gate
  readonly weights: ServedWeights
  readonly receiver?: WeightReceiver
  readonly seed: number
  readonly tokenizer: Pick<Tokenizer, 'tokenId' | 'isSpecial'>
}

/** Samples on servers: each request goes to one of them. */
export class ServedSampleModel implements SampleModel {
  readonly home = {}
  readonly info: ModelInfo
  readonly receiver?: WeightReceiver
  readonly #parts: ServedModelParts
  readonly #counts = { promptTokens: 0, cachedTokens: 0, sampledTokens: 0 }
  #requests = 0
  #open = true

  constructor(parts: ServedModelParts) {
    this.#parts = parts
    this.info = parts.info
    this.receiver = parts.receiver
  }

  get version(): number {
    return this.#parts.weights.version
  }

  async sample(request: SampleRequest, call: Call, onToken?: OnToken): Promise<Sample[]> {
    this.#check()
    const { seed, caps } = this.#parts
    const limits = { info: this.info, cacheTokens: Number.MAX_SAFE_INTEGER, seed: { low: 0, high: 0 } }
    const wish = checkRequest(request, limits)
    if (request.allowed) throw noMasks(this.info.architecture)
    needExact(caps.logprobs, wish, this.#parts.path)
    const { stop, special } = this.#stops(request.params.stop ?? [])
    const wanted: ServedRequest = {
      id: randomUUID(),
      prompt: request.prompt.slice(),
      n: request.n,
      wish: { ...wish, stopIds: new Set([...wish.stopIds, ...special.keys()]) },
      seed: request.params.seed ?? deriveSeed(seed, this.#requests++),
      stop,
      promptLogprobs: request.promptLogprobs ?? false,
    }
    return within(call, 'sample', async (signal) => {
      const leave = await this.#parts.gate.enter(signal)
      if (!leave) return Array.from({ length: request.n }, nothing)
      try {
        const samples = await this.#tried(wanted, signal, onToken)
        this.#counts.promptTokens += wanted.prompt.length
        this.#counts.cachedTokens += samples[0]?.cachedTokens ?? 0
        return samples.map((sample) => this.#sampleOf(sample, special))
      } finally {
        leave()
      }
    })
  }

  async score(rows: readonly Row[], call: Call): Promise<RowScores[]> {
    this.#check()
    checkRows(rows, this.info)
    if (!this.#parts.scoresAnyTemperature && rows.some(({ temperature }) => temperature !== 1)) throw noTemperature()
    return within(call, 'score', async (signal) => {
      const scores: RowScores[] = []
      for (let at = 0; at < rows.length; at += SCORED) {
        scores.push(...(await Promise.all(rows.slice(at, at + SCORED).map((row) => this.#scored(row, signal)))))
      }
      return scores
    })
  }

  saveWeights(dir: string, call: Call): Promise<void> {
    this.#check()
    return within(call, `saving weights to ${dir}`, (signal) => this.#parts.weights.save(dir, signal))
  }

  loadWeights(dir: string, version: number, inFlight: InFlight, call: Call): Promise<void> {
    this.#check()
    return within(call, `loading weights from ${dir}`, (signal) =>
      this.#parts.weights.load(dir, version, inFlight, signal),
    )
  }

  stats(): SamplerStats {
    const { running, waiting } = this.#parts.gate
    return { running, waiting, cacheTokensUsed: 0, cacheTokens: 0, ...this.#counts }
  }

  /** It lies in the servers. */
  memory(): MemoryReport {
    return { weights: 0, gradients: 0, optimizer: 0, activations: 0, cache: 0 }
  }

  async close(): Promise<void> {
    if (!this.#open) return
    this.#open = false
    await this.#parts.pool.close()
  }

  /** On one server after the other, as long as they die under it. A stream that has begun cannot begin again. */
  async #tried(wanted: ServedRequest, signal: AbortSignal, onToken?: OnToken): Promise<ServedSample[]> {
    const { pool } = this.#parts
    let begun = false
    const seen: OnToken | undefined =
      onToken &&
      ((...token) => {
        begun = true
        onToken(...token)
      })
    for (let attempt = 1; ; attempt++) {
      if (signal.aborted) return Array.from({ length: wanted.n }, () => ({ ...nothing(), versions: [] }))
      const member = pool.pick(wanted.prompt)
      if (!member) {
        await pool.someUp(signal).catch((error) => {
          if (!signal.aborted) throw error
        })
        continue
      }
      member.load += wanted.n
      try {
        return await this.#on(member.api, wanted, signal, seen)
      } catch (error) {
        if (begun || attempt === ATTEMPTS || !isPassing(error)) throw error
        await pool.examine(member)
      } finally {
        member.load -= wanted.n
      }
    }
  }

  /** An aborted request ends with what the server has of it. */
  async #on(
    api: NonNullable<ReturnType<ServerPool['pick']>>['api'],
    wanted: ServedRequest,
    signal: AbortSignal,
    onToken?: OnToken,
  ): Promise<ServedSample[]> {
    if (onToken) return api.generate(wanted, { signal }, onToken)
    let ended = false
    const abort = async () => {
      while (!ended) {
        await api.abort(wanted.id).catch(() => {})
        await sleep(ABORT_EVERY_MS)
      }
    }
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await api.generate(wanted, {})
    } finally {
      ended = true
      signal.removeEventListener('abort', abort)
    }
  }

  async #scored(row: Row, signal: AbortSignal): Promise<RowScores> {
    const { gate, pool } = this.#parts
    const leave = await gate.enter(signal)
    try {
      for (let attempt = 1; ; attempt++) {
        signal.throwIfAborted()
        await pool.someUp(signal)
        const member = pool.pick(row.tokens)
        if (!member) continue
        try {
          const all = await member.api.score(row.tokens, row.temperature, { signal })
          return { id: row.id, logprob: all.slice(row.start - 1) }
        } catch (error) {
          if (attempt === ATTEMPTS || !isPassing(error)) throw error
          await pool.examine(member)
        }
      }
    } finally {
      leave?.()
    }
  }

  #sampleOf(served: ServedSample, special: ReadonlyMap<number, string>): Sample {
    const { stoppedBy } = served
    this.#counts.sampledTokens += served.tokens.length
    const named = typeof stoppedBy === 'number' ? special.get(stoppedBy) : undefined
    // a server that nobody has given weights calls its own by a name
    const versions = served.versions.map(({ version, from }) => ({ version: versionOf(version), from }))
    return { ...served, ...(named !== undefined && { stoppedBy: named }), versions }
  }

  /** A stop string that is the name of a special token means this token: it is no text for a server. */
  #stops(stops: readonly string[]): { stop: string[]; special: Map<number, string> } {
    const { tokenizer } = this.#parts
    const special = new Map<number, string>()
    const stop: string[] = []
    for (const one of stops) {
      const id = tokenizer.tokenId(one)
      if (id !== undefined && tokenizer.isSpecial(id)) special.set(id, one)
      else stop.push(one)
    }
    return { stop, special }
  }

  #check(): void {
    if (!this.#open) throw new TrinityError('engine/closed', 'the sampler is closed', { path: this.#parts.path })
  }
}

function versionOf(name: string): number {
  return /^-?\d+$/.test(name) ? Number(name) : -1
}

/** The server may be gone: another one, or the same a little later, may answer. */
function isPassing(error: unknown): boolean {
  return error instanceof HttpError && error.isPassing
}

function nothing(): Sample {
  return { tokens: new Int32Array(0), logprobs: new Float32Array(0), finish: 'abort', versions: [], cachedTokens: 0 }
}

function noMasks(architecture: string): TrinityError {
  return new TrinityError('engine/unsupported', 'a server over HTTP cannot be asked for a mask before each token', {
    path: architecture,
    hint: 'constrained answers need explorer.rollout_model.engine_type native or torch',
  })
}

function noTemperature(): TrinityError {
  return new TrinityError('engine/unsupported', 'the server scores at temperature 1 only', {
    hint: 'let Trinity start the server, or score rows of temperature 1',
  })
}
