import type { VersionSpan } from '../engine/contract.js'
import type { Eid } from './eid.js'

export { type Eid, makeEid, rid, sid, tid, uid } from './eid.js'
export type { VersionSpan }

/** `single_turn`: one answer. `multi_turn`: several answers in one sequence, told apart by the mask. `dpo`: a pair. */
export type ExperienceType = 'single_turn' | 'multi_turn' | 'dpo'
export const EXPERIENCE_TYPES: readonly ExperienceType[] = ['single_turn', 'multi_turn', 'dpo']

export type TruncateStatus = 'prompt_truncated' | 'response_truncated'

export type FailureReason =
  | 'timeout'
  | 'cancelled'
  | 'workflow_error'
  | 'environment_error'
  | 'engine_error'
  | 'reward_error'
  | 'invalid_reward'
  | 'prompt_too_long'
  | 'no_response'

/** Why a run gave no usable result. Such an experience stays data: it has a reason instead of a made-up reward. */
export interface Failure {
  reason: FailureReason
  message: string
}

/** A chat message as the OpenAI format has it; fields beyond these two are kept as they are. */
export interface Message {
  role: string
  content?: unknown
  [field: string]: unknown
}

/** An array with a shape, for everything that is neither one number per token nor text. */
export interface Tensor {
  shape: readonly number[]
  data: TensorData
  /** Only for types that JavaScript has no array for (`bfloat16`): `data` then holds the raw bytes. */
  dtype?: string
}
export type TensorData = Uint8Array | Int32Array | Float32Array | Float64Array | BigInt64Array | Uint16Array

/**
 * One sequence the model produced (or was shown), with everything an algorithm needs to learn from it.
 *
 * `tokens` = prompt + response. Every per-token array covers the response only: `tokens.length - promptLength` entries.
 * A field that is not known is absent. In particular an absent reward is not zero.
 */
export interface Experience {
  type: ExperienceType
  eid: Eid
  tokens: Int32Array
  promptLength: number
  /** 1 where the model produced the token, so that it may be trained on. */
  actionMask: Uint8Array
  /** Sampler's log-probs: log softmax(logits / temperature), before top-k, top-p and penalties. */
  logprobs?: Float32Array
  /** Log-probs under the truncated distribution a token was really drawn from, where that differs. */
  drawnLogprobs?: Float32Array
  /** Temperature the sequence was sampled with. */
  temperature: number

  reward?: number
  tokenLevelReward?: Float32Array
  advantages?: Float32Array
  returns?: Float32Array
  /** Critic. */
  values?: Float32Array
  refLogprobs?: Float32Array
  /** Log-probs of the trainer's model before the update. */
  oldLogprobs?: Float32Array
  teacherLogprobs?: Float32Array
  /** Further inputs of a loss: one number for the whole row, or one per response token. */
  columns?: Record<string, number | Float32Array>

  /** Version of the policy that began the sequence: the oldest one in it. */
  modelVersion: number
  /** Response tokens from `from` on were drawn with this version; absent when one version drew them all. */
  versions?: readonly VersionSpan[]
  /** How often a trainer has taken it. */
  useCount: number
  truncateStatus?: TruncateStatus
  failure?: Failure

  promptText?: string
  responseText?: string
  messages?: Message[]
  tools?: Record<string, unknown>[]

  /** DPO: the two answers; `tokens` holds the prompt alone. */
  chosen?: Int32Array
  rejected?: Int32Array
  chosenMessages?: Message[]
  rejectedMessages?: Message[]

  /** Vision and audio inputs by name. */
  media?: Record<string, Tensor>
  /** Experts each token was routed to: [tokens − 1, layers, top-k]. */
  routedExperts?: Tensor

  /** Free facts about the experience, plain JSON: `taskset_id`, `task_index`, `is_expert`, `is_kept`, `env_state_hash`, … */
  info: Record<string, unknown>
  /** Numbers for the monitor. */
  metrics: Record<string, number>
  /** Fields written by a newer version of the software; kept so that nothing is lost on the way through. */
  extra?: Record<string, unknown>
}

/** Number of response tokens. */
export function responseLength(experience: Experience): number {
  return experience.tokens.length - experience.promptLength
}

/** Returns a copy without an active token: it stays a row of its batch and gives no loss. */
export function maskAll(experience: Experience): Experience {
  return { ...experience, actionMask: new Uint8Array(experience.actionMask.length) }
}

/** Masks answers that were cut at the length limit, and counts them. */
export function maskTruncated(experiences: readonly Experience[]): { experiences: Experience[]; count: number } {
  const isTruncated = ({ truncateStatus }: Experience) => truncateStatus === 'response_truncated'
  return {
    experiences: experiences.map((experience) => (isTruncated(experience) ? maskAll(experience) : experience)),
    count: experiences.filter(isTruncated).length,
  }
}

/** The arrays that hold one float per response token, with their name in files and tables. */
export const TOKEN_FLOATS = {
  logprobs: 'logprobs',
  drawnLogprobs: 'drawn_logprobs',
  tokenLevelReward: 'token_level_reward',
  advantages: 'advantages',
  returns: 'returns',
  values: 'values',
  refLogprobs: 'ref_logprobs',
  oldLogprobs: 'old_logprobs',
  teacherLogprobs: 'teacher_logprobs',
} as const satisfies Partial<Record<keyof Experience, string>>
export type TokenFloat = keyof typeof TOKEN_FLOATS

/** Experiences by a key such as `tid`, in order of first appearance. */
export function groupBy(experiences: readonly Experience[], key: (eid: Eid) => string): Map<string, Experience[]> {
  const groups = new Map<string, Experience[]>()
  for (const experience of experiences) {
    const name = key(experience.eid)
    const group = groups.get(name)
    if (group) group.push(experience)
    else groups.set(name, [experience])
  }
  return groups
}
