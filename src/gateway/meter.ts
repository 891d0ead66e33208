import type { Answered, ChatModel } from '../dialect/chat-model.js'
import { NoteCounter, type NoteCounts } from '../dialect/request-notes.js'
import { DIVERGENCES, type DivergenceCounts, noDivergences } from '../experience/divergence.js'
import { Histogram, type HistogramCounts } from './histogram.js'
import type { OpenSession } from './session.js'

/** What a gateway has done since it was opened. */
export interface GatewayStats {
  /** Requests for an answer. */
  readonly requests: number
  /** Answers that were sampled: `n` of a request count each. */
  readonly answers: number
  /** Requests of every kind that got no answer, by HTTP status; 499: the client left. */
  readonly errors: Readonly<Record<number, number>>
  readonly promptTokens: number
  readonly completionTokens: number
  /** Requests that got the answer of an earlier one with their idempotency key. */
  readonly retries: number
  readonly sessions: number
  readonly openSessions: number
  readonly callsInFlight: number
  /** How often a call began a sequence of its own though there were others to go on from, in models that count this. */
  readonly divergences: number
  /** The same by reason. */
  readonly diverged: DivergenceCounts
  /** Unknown fields that were ignored, hosted tools that were dropped, media that were replaced by text; by label. */
  readonly notes: NoteCounts
  /** Newest version of the weights, of models that say it. */
  readonly modelVersion?: number
  /** From the request's arrival to the first token of a stream. */
  readonly firstToken: HistogramCounts
  /** From the request's arrival to the end of its answer. */
  readonly total: HistogramCounts
}

/** Counts what happens on a gateway. */
export class Meter {
  requests = 0
  retries = 0
  callsInFlight = 0
  sessions = 0
  readonly firstToken = new Histogram()
  readonly total = new Histogram()
  readonly notes = new NoteCounter()
  readonly #errors: Record<number, number> = {}
  #answers = 0
  #promptTokens = 0
  #completionTokens = 0
  /** Of sessions that have ended. */
  readonly #diverged = noDivergences()
  #modelVersion: number | undefined

  error(status: number): void {
    this.#errors[status] = (this.#errors[status] ?? 0) + 1
  }

  answered(answers: readonly Answered[]): void {
    const { promptTokens, completionTokens } = tokensOf(answers)
    this.#answers += answers.length
    this.#promptTokens += promptTokens
    this.#completionTokens += completionTokens
  }

  ended({ parts }: OpenSession): void {
    addDiverged(this.#diverged, parts.model)
    this.#modelVersion = newer(this.#modelVersion, parts.model)
  }

  read(open: Iterable<OpenSession>): GatewayStats {
    let openSessions = 0
    const diverged = { ...this.#diverged }
    let modelVersion = this.#modelVersion
    for (const { parts } of open) {
      openSessions++
      addDiverged(diverged, parts.model)
      modelVersion = newer(modelVersion, parts.model)
    }
    const { requests, retries, sessions, callsInFlight } = this
    return {
      ...{ requests, retries, sessions, callsInFlight, openSessions, diverged, modelVersion },
      divergences: Object.values(diverged).reduce((sum, count) => sum + count, 0),
      answers: this.#answers,
      errors: { ...this.#errors },
      notes: this.notes.read(),
      promptTokens: this.#promptTokens,
      completionTokens: this.#completionTokens,
      firstToken: this.firstToken.read(),
      total: this.total.read(),
    }
  }
}

/** Answers of one call share their prompt. */
export function tokensOf(answers: readonly Answered[]): { promptTokens: number; completionTokens: number } {
  return {
    promptTokens: answers[0]?.promptTokens ?? 0,
    completionTokens: answers.reduce((sum, { sample }) => sum + sample.tokens.length, 0),
  }
}

/** What models of a rollout tell beyond the contract. */
interface Telling {
  readonly version?: number
  readonly stats?: { readonly diverged?: DivergenceCounts }
}

function addDiverged(total: Record<keyof DivergenceCounts, number>, { stats }: ChatModel & Telling): void {
  for (const reason of DIVERGENCES) total[reason] += stats?.diverged?.[reason] ?? 0
}

function newer(version: number | undefined, model: ChatModel & Telling): number | undefined {
  return model.version === undefined ? version : Math.max(version ?? 0, model.version)
}
