import { TrinityError } from '../base/error.js'
import type { AdamStep, Head, ModelSpec, ScoreKind } from './contract.js'

/** What engines have in common to refuse, so that the same mistake gets the same answer everywhere. */

export function checkStep({ lr, betas, eps, weightDecay, gradClip }: AdamStep): void {
  const [beta1, beta2] = betas
  const numbers = { lr, beta1, beta2, eps, weightDecay, gradClip }
  const bad = Object.entries(numbers).find(([, value]) => !Number.isFinite(value) || value < 0)
  if (bad) throw new TrinityError('engine/bad-step', `${bad[0]} is ${bad[1]}`, { path: bad[0] })
  if (beta1 >= 1 || beta2 >= 1) throw new TrinityError('engine/bad-step', `betas are ${betas}`, { path: 'betas' })
}

export function checkWanted({ head = 'lm', path }: ModelSpec, wants: readonly ScoreKind[]): void {
  const bad = wants.find((kind) => (kind === 'value') === (head === 'lm') || head === 'reward')
  if (bad === undefined) return
  throw new TrinityError('engine/no-score', `a model with the head '${head}' does not give ${bad}`, {
    path,
    hint: bad === 'value' ? "open the critic with head: 'value'" : "open the policy with head: 'lm'",
  })
}

export function checkHead(spec: ModelSpec, allowed: readonly Head[]): void {
  if (allowed.includes(spec.head ?? 'lm')) return
  throw new TrinityError('engine/unsupported', `a model with the head '${spec.head}' cannot be opened this way`, {
    path: spec.path,
    hint: 'reward models are opened with openReward',
  })
}

export function foreignModel(where: string): TrinityError {
  return new TrinityError('engine/foreign-model', `${where} names a model from another engine`, {
    hint: 'open trainer and sampler with the same engine',
  })
}

export function incompleteGradient(path: string): TrinityError {
  const message = 'a call stopped halfway and left an incomplete gradient'
  return new TrinityError('engine/incomplete-gradient', message, {
    path,
    hint: 'call discardGrad, then repeat the forwardBackward calls of this step',
  })
}
