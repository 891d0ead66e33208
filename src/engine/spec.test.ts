import { expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { loraSpec, recomputes } from './spec.js'

const TREE = 'trainer.trainer_config'

it('activations are computed again as the configuration says, else as the engine does', () => {
  const plain = withKeys({})
  expect([recomputes(plain, 'critic', true), recomputes(plain, 'critic', false)]).toEqual([true, false])
  const off = withKeys({ [`${TREE}.actor_rollout_ref.model.enable_gradient_checkpointing`]: false })
  expect(recomputes(off, 'actor_rollout_ref', true)).toBe(false)
  expect(recomputes(off, 'critic', true)).toBe(true)
})

it('modules of an adapter are a list in one text', () => {
  expect(loraSpec(withKeys({}))).toBeUndefined()
  const of = (target_modules: string) =>
    loraSpec(withKeys({ 'model.lora_configs': [{ lora_rank: 4, target_modules }] }))
  expect(of('all-linear')).toMatchObject({ rank: 4, targetModules: 'all-linear' })
  expect(of("['q_proj', 'v_proj']")).toMatchObject({ targetModules: ['q_proj', 'v_proj'] })
  expect(of('q_proj, v_proj')).toMatchObject({ targetModules: ['q_proj', 'v_proj'] })
})
