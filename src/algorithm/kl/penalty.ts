import { TrinityError } from '../../base/error.js'
import { type Experience, uid } from '../../experience/index.js'
import { evaluateTokens, type LossRow } from '../../graph/index.js'
import { rewardOf } from '../advantage/advantage.js'
import { tokenRewards } from '../advantage/returns.js'
import type { KlController } from './controller.js'
import { type KlFn, klTokens } from './kl.js'

const formulas = new WeakMap<KlFn, ReturnType<typeof klTokens>>()

/**
 * KL as a penalty in the reward: r_t := score_t − kl_coef·KL_t at each token the model produced, KL between the policy
 * before the update and the reference. An experience without a reward has nothing to take it off: it passes as it is
 * and does not count. Metrics: `kl` (mean over sequences of their mean over tokens) and `kl_coef`. Afterward the
 * controller takes note of the KL.
 */
export function applyKlPenalty(
  experiences: readonly Experience[],
  kl: KlFn,
  controller: KlController,
): { experiences: Experience[]; metrics: Record<string, number> } {
  if (!formulas.has(kl)) formulas.set(kl, klTokens(kl))
  const formula = formulas.get(kl)
  if (!formula) return { experiences: [...experiences], metrics: {} }
  const coef = controller.coef
  let [sum, count] = [0, 0]
  const result = experiences.map((experience) => {
    if (rewardOf(experience) === undefined) return experience
    const { actionMask: mask } = experience
    const logprob = input(experience, 'log-probs', experience.oldLogprobs ?? experience.logprobs)
    const ref = input(experience, 'reference log-probs', experience.refLogprobs)
    const row: LossRow = { mask, columns: { ref, old: experience.logprobs ?? logprob } }
    const values = evaluateTokens(formula, [row], {}, { logprob })
    const rewards = tokenRewards(experience).slice()
    let [own, active] = [0, 0]
    for (let i = 0; i < mask.length; i++) {
      if (mask[i] === 0) continue
      rewards[i] -= coef * values[i]
      own += values[i]
      active++
    }
    sum += active > 0 ? own / active : 0
    count++
    return { ...experience, tokenLevelReward: rewards }
  })
  if (count === 0) return { experiences: result, metrics: { kl_coef: coef } }
  const mean = sum / count
  controller.update(mean, count)
  return { experiences: result, metrics: { kl: mean, kl_coef: coef } }
}

function input(experience: Experience, what: string, value: Float32Array | undefined): Float32Array {
  if (value) return value
  throw new TrinityError('algorithm/missing-input', `experience ${uid(experience.eid)} has no ${what}`, {
    path: 'kl_penalty_fn',
    hint: 'a KL penalty needs log-probs of the policy and of the reference at every token',
  })
}
