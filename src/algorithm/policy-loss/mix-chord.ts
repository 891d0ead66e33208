import { z } from 'zod'
import type { LossRow } from '../../graph/index.js'
import { atLeast0, fraction } from '../entry.js'
import { clipArgs, clipKnown, clipMissing, fillClip } from './clip.js'
import { handTypedSizes, ignoredSizes, mixture, partModes } from './mixture.js'
import { policyLoss } from './policy-loss.js'
import { phiTokens } from './sft-phi.js'

interface Schedule {
  mu_warmup_steps: number
  mu_decay_steps: number
  mu_peak: number
  mu_valley: number
}

/** μ at a training step: linear rise to the peak, then a cosine down to the valley, then constant. */
export function chordMu(step: number, s: Schedule): number {
  if (step < s.mu_warmup_steps) return (s.mu_peak * step) / s.mu_warmup_steps
  if (step >= s.mu_warmup_steps + s.mu_decay_steps) return s.mu_valley
  const turn = (Math.PI * (step - s.mu_warmup_steps)) / s.mu_decay_steps
  return s.mu_valley + (s.mu_peak - s.mu_valley) * 0.5 * (1 + Math.cos(turn))
}

/**
 * CHORD: MIX with a μ that follows the training step (row column `step`):
 *   (1 − μ(step))·PPO(usual rows) + μ(step)·E(expert rows),  E = −logp·sg(p(1 − p)), or −logp without the φ function
 */
export const mixChord = policyLoss({
  doc: 'MIX with a scheduled share of expert data, weighted by p(1 − p) (CHORD)',
  args: z
    .strictObject({
      mu_warmup_steps: atLeast0.default(0).describe('Steps in which the share of expert data rises to its peak.'),
      mu_decay_steps: atLeast0.default(0).describe('Steps in which it falls to its valley.'),
      mu_peak: fraction.default(0.1).describe('Greatest share of the expert loss.'),
      mu_valley: fraction.default(0.1).describe('Share of the expert loss at the end.'),
      enable_phi_function: z.boolean().default(true).describe('Weighs expert tokens by p(1 − p).'),
      ...clipArgs,
      ...partModes,
      ...handTypedSizes,
    })
    .overwrite(fillClip)
    .refine(clipKnown, clipMissing),
  ignored: ignoredSizes,
  build(g, args, context) {
    const mu = g.norm('mu', (rows) => chordMu(stepOf(rows), args), ['step'])
    g.metric('mu', mu)
    const expert = args.enable_phi_function
      ? { name: 'sft_phi_loss', loss: phiTokens(g) }
      : { name: 'sft_loss', loss: g.logprob.neg() }
    return mixture(g, args, context, mu, expert)
  },
})

function stepOf(rows: readonly LossRow[]): number {
  return rows.reduce((step, row) => Math.max(step, Number(row.columns.step ?? 0)), 0)
}
