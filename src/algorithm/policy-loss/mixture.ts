import { z } from 'zod'
import type { Expr, LossTrace, Operand } from '../../graph/index.js'
import { member, type RowSet } from '../aggregate.js'
import { type AggMode, aggMode } from '../entry.js'
import { clippedSurrogate } from './clip.js'
import type { PolicyLossContext } from './policy-loss.js'

export const USUAL: RowSet = { name: 'usual', column: 'expert', holds: false }
export const EXPERT: RowSet = { name: 'expert', column: 'expert', holds: true }

/** Aggregation of the two parts; `null` = the loss's own. */
export const partModes = {
  loss_agg_mode: aggMode,
  sft_loss_agg_mode: aggMode.describe('Of expert rows; null: loss_agg_mode.'),
  grpo_loss_agg_mode: aggMode.describe('Of the usual rows; null: loss_agg_mode.'),
}

/** Batch sizes that older configurations had to repeat by hand. The batch itself knows them. */
export const handTypedSizes = {
  use_dynamic_bsz: z.boolean().nullish().describe('Of older configurations; no effect: the batch knows it.'),
  ppo_mini_batch_size: z.number().nullish().describe('Of older configurations; no effect: the batch knows it.'),
  ppo_micro_batch_size_per_gpu: z
    .number()
    .nullish()
    .describe('Of older configurations; no effect: the batch knows it.'),
  ngpus_trainer: z.number().nullish().describe('Of older configurations; no effect: the batch knows it.'),
  train_batch_size_usual: z.number().nullish().describe('Of older configurations; no effect: the batch knows it.'),
  train_batch_size_expert: z.number().nullish().describe('Of older configurations; no effect: the batch knows it.'),
}
export const ignoredSizes = Object.keys(handTypedSizes)

interface MixtureArgs {
  clip_range_low: number | null
  clip_range_high: number | null
  sft_loss_agg_mode: AggMode | null
  grpo_loss_agg_mode: AggMode | null
}

/** (1 − μ)·PPO over the usual rows + μ·(expert loss over the expert rows); a part without rows is 0. */
export function mixture(
  g: LossTrace,
  args: MixtureArgs,
  context: PolicyLossContext,
  mu: Operand,
  expert: { readonly name: string; readonly loss: Expr },
): Expr {
  const usual = clippedSurrogate(g, args)
  const usualLoss = context.aggregate(args.grpo_loss_agg_mode, USUAL)(usual.loss)
  const expertLoss = context.aggregate(args.sft_loss_agg_mode, EXPERT)(expert.loss)
  const isUsual = member(g, USUAL).indicator()
  for (const [name, value] of Object.entries(usual.metrics)) g.metric(`usual/${name}`, value, { weight: isUsual })
  g.metric('usual/pg_loss', usualLoss, { reduce: 'sum' })
  g.metric(`expert/${expert.name}`, expertLoss, { reduce: 'sum' })
  const share = typeof mu === 'number' ? g.constant(mu) : mu
  const loss = usualLoss.mul(share.neg().add(1)).add(expertLoss.mul(share))
  g.metric('loss', loss, { reduce: 'sum' })
  return loss
}
