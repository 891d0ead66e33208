import { expect, it } from 'vitest'
import { stepConfig } from '../../test/trainer/kit.js'
import { trainerNeeds } from './needs.js'

const lora = { 'model.lora_configs': [{ lora_rank: 4 }] }
const cases: [string, Record<string, unknown>, Partial<ReturnType<typeof trainerNeeds>>][] = [
  ['grpo', {}, { reference: true, critic: false, referenceIsBase: false }],
  ['grpo', { 'algorithm.kl_loss_fn': 'none' }, { reference: false }],
  ['grpo', lora, { reference: true, referenceIsBase: true }],
  ['dapo', {}, { reference: false }],
  ['dapo', { 'algorithm.kl_loss_fn': 'k3' }, { reference: true }],
  ['ppo', {}, { reference: true, critic: true }],
  ['ppo', { 'algorithm.kl_loss_fn': 'none' }, { reference: false, critic: true }],
  ['ppo', { 'algorithm.kl_loss_fn': 'none', 'algorithm.kl_penalty_fn': 'k1' }, { reference: true }],
  // The explorer has computed the advantages by then: a penalty has nothing to act on.
  ['grpo', { 'algorithm.kl_loss_fn': 'none', 'algorithm.kl_penalty_fn': 'k1' }, { reference: false }],
  ['sft', {}, { reference: false, critic: false }],
  ['dpo', {}, { reference: true, critic: false }],
]

it.each(cases)('%s with %j needs %j', (algorithm, set, expected) => {
  expect(trainerNeeds(stepConfig(algorithm, set))).toMatchObject(expected)
})
