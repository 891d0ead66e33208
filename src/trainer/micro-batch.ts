import { type Config, trainerTree } from '../config/index.js'
import type { Row } from '../engine/contract.js'

/** Tokens of a micro-batch of these rows. */
export type Budget = (rows: readonly Row[]) => number

/** Tokens of a micro-batch when the longest row has so many. */
export type TokensOf = (longest: number) => number

export function budgetOf(tokens: TokensOf): Budget {
  return (rows) => tokens(rows.reduce((most, row) => Math.max(most, row.tokens.length), 1))
}

/** How a kind of pass is cut into micro-batches: by tokens, or by rows. */
interface Size {
  readonly tokens: number | null
  readonly rows: number | null
}

/** The policy when it trains, when old log-probs are computed, and the reference. */
export function policyTokens(config: Config): Record<'train' | 'score' | 'reference', TokensOf> {
  const { actor, rollout, ref } = trainerTree(config).actor_rollout_ref
  const train = {
    tokens: actor.ppo_max_token_len_per_gpu ?? config.trainer.max_token_len_per_gpu,
    rows: actor.ppo_micro_batch_size_per_gpu ?? actor.ppo_micro_batch_size,
  }
  const scores = (part: typeof rollout | typeof ref): Size => ({
    tokens: part.log_prob_max_token_len_per_gpu ?? actor.ppo_infer_max_token_len_per_gpu ?? train.tokens,
    rows: part.log_prob_micro_batch_size_per_gpu ?? part.log_prob_micro_batch_size ?? train.rows,
  })
  const byTokens = actor.use_dynamic_bsz ?? config.trainer.use_dynamic_bsz
  return {
    train: tokensOf(train, byTokens),
    score: tokensOf(scores(rollout), byTokens),
    reference: tokensOf(scores(ref), byTokens),
  }
}

export function criticTokens(config: Config): Record<'train' | 'score', TokensOf> {
  const { critic } = trainerTree(config)
  const train = {
    tokens: critic.ppo_max_token_len_per_gpu ?? config.trainer.max_token_len_per_gpu,
    rows: critic.ppo_micro_batch_size_per_gpu ?? critic.ppo_micro_batch_size,
  }
  const score = {
    tokens: critic.forward_max_token_len_per_gpu ?? critic.ppo_infer_max_token_len_per_gpu ?? train.tokens,
    rows: critic.forward_micro_batch_size_per_gpu ?? critic.forward_micro_batch_size ?? train.rows,
  }
  const byTokens = critic.use_dynamic_bsz ?? config.trainer.use_dynamic_bsz
  return { train: tokensOf(train, byTokens), score: tokensOf(score, byTokens) }
}

/** Rows: as much as so many of the longest take. */
function tokensOf({ tokens, rows }: Size, byTokens: boolean): TokensOf {
  return (longest) => (byTokens ? (tokens ?? 2 * longest) : (rows ?? 1) * longest)
}
