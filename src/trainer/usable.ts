import { type Experience, uid } from '../experience/index.js'
import { sift } from '../pipeline/operator.js'

export interface Usable {
  readonly experiences: Experience[]
  /** How many were left out, by reason. */
  readonly skipped: Readonly<Record<string, number>>
}

/**
 * Experiences that a model can be run on: failed runs and sequences longer than the model are left out. An experience
 * that replay gave twice gets two names, so that its rows are told apart.
 */
export function usable(experiences: readonly Experience[], maxModelLen: number): Usable {
  const { kept, dropped } = sift(experiences, (experience) => {
    if (experience.failure) return 'failed'
    return longest(experience) > maxModelLen ? 'too_long' : undefined
  })
  const seen = new Set<string>()
  const named = kept.map((experience) => {
    let own = experience
    for (let copy = 2; seen.has(uid(own.eid)); copy++) {
      own = { ...experience, eid: { ...experience.eid, suffix: `${experience.eid.suffix}-${copy}` } }
    }
    seen.add(uid(own.eid))
    return own
  })
  return { experiences: named, skipped: dropped }
}

/** A mini-batch. All had their part in the advantages of their group. */
export interface Trainable {
  readonly experiences: Experience[]
  /** Without a token that the loss sees: rows to divide by, which need no pass as they have no gradient. */
  readonly empty: Experience[]
}

export function trainable(experiences: readonly Experience[]): Trainable {
  return { experiences: experiences.filter((one) => !isEmpty(one)), empty: experiences.filter(isEmpty) }
}

/** Counts rows without a token that the loss sees: not selected (RAFT), masked as truncated, or without an answer. */
export function emptyByReason(empty: readonly Experience[]): Record<'not_kept' | 'truncated' | 'empty_mask', number> {
  const counts = { not_kept: 0, truncated: 0, empty_mask: 0 }
  for (const { info, truncateStatus } of empty) {
    if (info.is_kept === false) counts.not_kept++
    else counts[truncateStatus === 'response_truncated' ? 'truncated' : 'empty_mask']++
  }
  return counts
}

export function isEmpty({ type, actionMask }: Experience): boolean {
  return type !== 'dpo' && !actionMask.some((active) => active !== 0)
}

/** Tokens of the longest sequence of these experiences. */
export function longestOf(experiences: readonly Experience[]): number {
  return experiences.reduce((most, experience) => Math.max(most, longest(experience)), 0)
}

function longest({ tokens, chosen, rejected }: Experience): number {
  return tokens.length + Math.max(chosen?.length ?? 0, rejected?.length ?? 0)
}
