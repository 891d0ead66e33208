import { TrinityError } from '../base/error.js'
import type { SamplingParams } from './contract.js'

/** How one token is drawn. */
export interface DrawSpec {
  readonly greedy: boolean
  readonly invT: number
  readonly topK: number
  readonly topP: number
  readonly minP: number
  /** On tokens of prompt and answer; 1: none. */
  readonly penalty: number
  /** On tokens of the answer; 0: none. */
  readonly presence: number
  readonly frequency: number
  /** Tokens whose logits are changed, and by how much. */
  readonly biased: readonly number[]
  readonly bias: readonly number[]
  /** Truncation, penalties or bias make the drawn log-prob another than the model's. */
  readonly reshaped: boolean
}

/** Below this the logits are only scaled to infinity; greedy is what is meant. */
const COLDEST = 1e-3

/** `what` as requests and configurations spell it: `top_p`. */
export function need(fine: boolean, what: string, value: unknown, hint: string): void {
  if (fine) return
  throw new TrinityError('engine/bad-request', `${what} is ${value}`, { path: what, hint })
}

export function whole(value: number, least: number, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most
}

export function checkDraw(params: SamplingParams, vocabSize: number): DrawSpec {
  const { temperature, topK = 0, topP = 1, minP = 0, repetitionPenalty: penalty = 1 } = params
  const { presencePenalty: presence = 0, frequencyPenalty: frequency = 0, logitBias = {} } = params
  need(
    temperature === 0 || (temperature >= COLDEST && temperature < Infinity),
    'temperature',
    temperature,
    `use 0 for greedy, else ${COLDEST} or more`,
  )
  need(Number.isSafeInteger(topK), 'top_k', topK, 'use a whole number; 0 switches it off')
  need(topP > 0 && topP <= 1, 'top_p', topP, 'use more than 0, at most 1')
  need(minP >= 0 && minP <= 1, 'min_p', minP, 'use 0 … 1')
  need(penalty > 0 && penalty < Infinity, 'repetition_penalty', penalty, 'use a positive number; 1 switches it off')
  need(Math.abs(presence) <= 2, 'presence_penalty', presence, 'use −2 … 2; 0 switches it off')
  need(Math.abs(frequency) <= 2, 'frequency_penalty', frequency, 'use −2 … 2; 0 switches it off')
  const entries = Object.entries(logitBias).map(([id, bias]) => [Number(id), bias] as const)
  for (const [id, bias] of entries) {
    need(whole(id, 0, vocabSize - 1), 'logit_bias', `for token ${id}`, `ids are 0 … ${vocabSize - 1}`)
    need(Math.abs(bias) <= 100, 'logit_bias', `${bias} for token ${id}`, 'use −100 … 100')
  }
  const biased = entries.filter(([, bias]) => bias !== 0)
  const kept = topK > 0 && topK < vocabSize ? topK : 0
  const penalized = penalty !== 1 || presence !== 0 || frequency !== 0
  return {
    greedy: temperature === 0,
    invT: temperature === 0 ? 1 : 1 / temperature,
    topK: kept,
    topP,
    minP,
    penalty,
    presence,
    frequency,
    biased: biased.map(([id]) => id),
    bias: biased.map(([, bias]) => bias),
    reshaped: temperature > 0 && (kept > 0 || topP < 1 || minP > 0 || penalized || biased.length > 0),
  }
}
