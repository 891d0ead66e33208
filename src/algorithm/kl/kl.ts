import { z } from 'zod'
import { type Expr, type TokenFormula, Trace } from '../../graph/index.js'
import { type Entry, open, positive } from '../entry.js'

/** The three log-probs an estimator may look at: of the model, of the reference, of the sampler. */
export interface KlInputs {
  readonly logprob: Expr
  readonly ref: Expr
  /** Only read by estimators that correct for sampling from an older policy. */
  readonly old: () => Expr
}

/**
 * Estimates KL(policy ‖ reference) at each token, both as a term of the loss and as a penalty in the reward.
 * `formula` is absent for `none`.
 */
export interface KlFn extends Entry {
  readonly formula?: (inputs: KlInputs) => Expr
}

export interface KlArgs {
  adaptive: boolean
  kl_coef: number
  target_kl: number | null
  horizon: number | null
}

const klArgs = z
  .strictObject({
    adaptive: z
      .boolean()
      .default(false)
      .describe('The coefficient follows the KL: it rises above target_kl and falls below it.'),
    kl_coef: z.number().default(0.001).describe('Weight of the KL.'),
    target_kl: open(positive).describe('adaptive: the KL that is aimed at.'),
    horizon: open(positive).describe('adaptive: the greater, the slower the coefficient changes.'),
  })
  .refine((args) => !args.adaptive || args.target_kl !== null, {
    path: ['target_kl'],
    message: 'adaptive: true needs target_kl',
  })
  .refine((args) => !args.adaptive || args.horizon !== null, {
    path: ['horizon'],
    message: 'adaptive: true needs horizon',
  })

/** A KL estimator: its line for people, and the formula; without one it is off. */
export function klFn(doc: string, formula?: KlFn['formula']): KlFn {
  return { doc, args: klArgs, formula }
}

/** The estimator on its own: scores `logprob`, columns `ref` and `old`. */
export function klTokens(kl: KlFn): TokenFormula | undefined {
  if (!kl.formula) return undefined
  const g = new Trace()
  const value = kl.formula({ logprob: g.logprob, ref: g.column('ref'), old: () => g.column('old') })
  return g.formula(value)
}
