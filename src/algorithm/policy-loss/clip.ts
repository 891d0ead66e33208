import type { Expr, LossTrace, Operand } from '../../graph/index.js'
import { atLeast0, open } from '../entry.js'

/** `clip_range`, with `clip_range_low` and `clip_range_high` overriding it on their side. */
export const clipArgs = {
  clip_range: atLeast0.nullable().default(0.2).describe('The ratio counts between 1 less this and 1 plus this.'),
  clip_range_low: open(atLeast0).describe('Below 1; null: clip_range.'),
  clip_range_high: open(atLeast0).describe('Above 1; null: clip_range.'),
}

interface ClipArgs {
  clip_range: number | null
  clip_range_low: number | null
  clip_range_high: number | null
}

/** After parsing, gives both sides of the clip range a value, so that only `*_low` and `*_high` have to be read. */
export function fillClip<A extends ClipArgs>(args: A): A {
  const low = args.clip_range_low ?? args.clip_range
  const high = args.clip_range_high ?? args.clip_range
  return { ...args, clip_range_low: low, clip_range_high: high }
}

/** For zod's `refine` of arguments with `clipArgs`: both sides of the clip range are known. */
export const clipKnown = (args: ClipArgs) => args.clip_range_low !== null && args.clip_range_high !== null
/** What `refine` says where `clipKnown` is false. */
export const clipMissing = {
  path: ['clip_range'],
  message: 'give clip_range, or both clip_range_low and clip_range_high',
}

/** The clipped surrogate of PPO, and what it was made of. */
export interface Ppo {
  /** Per-token loss. */
  readonly loss: Expr
  /** log(new / old), clamped to ±20. */
  readonly logRatio: Expr
  readonly metrics: { readonly pg_clipfrac: Expr; readonly pg_clipfrac_lower: Expr; readonly ppo_kl: Expr }
}

/**
 * The clipped surrogate with dual clip, per token. d = clamp(logp − old, ±20), ρ = e^d:
 *   L = max(−A·ρ, −A·clip(ρ, 1 − low, 1 + high));   where A < 0: min(L, −A·c)
 */
export function clippedSurrogate(
  g: LossTrace,
  args: { clip_range_low: number | null; clip_range_high: number | null; clip_ratio_c?: number },
  old: Operand = g.column('old'),
): Ppo {
  const a = g.column('advantage')
  const d = g.logprob.sub(old).clamp(-20, 20)
  const ratio = d.exp()
  const plain = a.neg().mul(ratio)
  const clipped = a.neg().mul(ratio.clamp(1 - args.clip_range_low!, 1 + args.clip_range_high!))
  const upper = plain.max(clipped)
  const bound = a.neg().mul(args.clip_ratio_c ?? 3)
  return {
    loss: a.lt(0).where(upper.min(bound), upper),
    logRatio: d,
    metrics: {
      pg_clipfrac: clipped.gt(plain).indicator(),
      pg_clipfrac_lower: upper.gt(bound).and(a.lt(0)).indicator(),
      ppo_kl: d.neg(),
    },
  }
}
