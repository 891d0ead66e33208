import { expect, it } from 'vitest'
import { argumentProblems } from '../../base/arguments.js'
import { rolloutCorrectionArgs } from './args.js'

const problems = (given: object) => {
  const parsed = rolloutCorrectionArgs.safeParse(given)
  if (parsed.success) return []
  return argumentProblems(rolloutCorrectionArgs, given, parsed.error.issues).map(
    ({ key, message }) => `${key}: ${message}`,
  )
}

it.each([
  [{ rollout_rs: 'token_k1', rollout_rs_threshold: '0.5_2.0' }],
  [{ rollout_rs: 'token_k1, seq_mean_k3', rollout_rs_threshold: '0.5_2,1e-3' }],
  [{ rollout_rs: 'geometric' }],
  [{ rollout_is: 'token', rollout_is_threshold: '0.5_5', loss_type: 'ppo_clip' }],
])('%j is read', (given) => {
  expect(problems(given)).toEqual([])
})

it.each([
  [{ rollout_rs: 'token_k4', rollout_rs_threshold: 1 }, /^rollout_rs: unknown criterion 'token_k4'; known: token_k1,/],
  [{ rollout_rs: 'seq_max_k1', rollout_rs_threshold: 1 }, /^rollout_rs: unknown criterion/],
  [{ rollout_rs: 'token_k1' }, /^rollout_rs_threshold: token_k1 needs one/],
  [{ rollout_rs: 'token_k1,token_k2', rollout_rs_threshold: '1,2,3' }, /expected 1 or 2 limits, found 3/],
  [{ rollout_rs: 'token_k2', rollout_rs_threshold: '0.5_2' }, /token_k2 is a divergence and has an upper limit only/],
  [{ rollout_rs: 'token_k1', rollout_rs_threshold: '2_0.5' }, /^rollout_rs_threshold: expected a positive number/],
  [{ rollout_rs: 'token_k1', rollout_rs_threshold: 'much' }, /^rollout_rs_threshold: expected a positive number/],
  [{ rollout_is: 'token', rollout_is_threshold: -1 }, /^rollout_is_threshold: expected a positive number/],
  [{ rollout_is: 'token', rollout_is_threshold: '1_2_3' }, /^rollout_is_threshold: expected a positive number/],
  [{ bypass_mode: true, rollout_rs: 'token' }, /^bypass_mode: rollout_is and rollout_rs compare/],
])('%j is refused', (given, message) => {
  expect(problems(given)).toEqual([expect.stringMatching(message)])
})
