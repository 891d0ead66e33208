import type { Experience } from '../../experience/index.js'

/** Rewards per response token: the given ones, or the sequence's reward at its last token; NaN where there is none. */
export function tokenRewards({ tokenLevelReward, reward, actionMask }: Experience): Float32Array {
  if (tokenLevelReward) return tokenLevelReward
  const rewards = new Float32Array(actionMask.length)
  if (rewards.length > 0) rewards[rewards.length - 1] = reward ?? Number.NaN
  return rewards
}

/**
 * Reward to go, G_t = r_t + γ·G_{t+1}, over the tokens the model produced. Tokens of the environment are no time steps;
 * a reward that stands on one belongs to the action before it.
 */
export function rewardToGo(rewards: ArrayLike<number>, mask: Uint8Array, gamma: number): Float32Array {
  const out = new Float32Array(mask.length)
  let next = 0
  let pending = 0
  for (let t = mask.length - 1; t >= 0; t--) {
    pending += rewards[t]
    if (mask[t] === 0) continue
    next = pending + gamma * next
    pending = 0
    out[t] = next
  }
  return out
}

/**
 * Generalized advantage estimation over the tokens the model produced:
 *   δ_t = r_t + γ·V_{t+1} − V_t,  A_t = δ_t + γλ·A_{t+1},  V after the last = 0
 * Tokens of the environment are passed over, because the critic is never trained on them.
 */
export function gae(
  rewards: ArrayLike<number>,
  values: ArrayLike<number>,
  mask: Uint8Array,
  gamma: number,
  lam: number,
): { advantages: Float32Array; returns: Float32Array } {
  const advantages = new Float32Array(mask.length)
  const returns = new Float32Array(mask.length)
  let nextValue = 0
  let next = 0
  let pending = 0
  for (let t = mask.length - 1; t >= 0; t--) {
    pending += rewards[t]
    if (mask[t] === 0) continue
    const delta = pending + gamma * nextValue - values[t]
    next = delta + gamma * lam * next
    advantages[t] = next
    returns[t] = next + values[t]
    nextValue = values[t]
    pending = 0
  }
  return { advantages, returns }
}

/**
 * In place: (x − mean) / √(var + 1e-8) over all active tokens of the batch, var unbiased. Fewer than two active tokens
 * have no deviation and stay as they are.
 */
export function whiten(rows: readonly { readonly values: Float32Array; readonly mask: Uint8Array }[]): void {
  let n = 0
  let sum = 0
  for (const { values, mask } of rows) {
    for (let i = 0; i < mask.length; i++) {
      if (mask[i] === 0) continue
      n++
      sum += values[i]
    }
  }
  if (n < 2) return
  const mean = sum / n
  let squares = 0
  for (const { values, mask } of rows) {
    for (let i = 0; i < mask.length; i++) if (mask[i] !== 0) squares += (values[i] - mean) ** 2
  }
  const scale = 1 / Math.sqrt(squares / (n - 1) + 1e-8)
  for (const { values, mask } of rows) {
    for (let i = 0; i < mask.length; i++) values[i] = mask[i] === 0 ? 0 : (values[i] - mean) * scale
  }
}
