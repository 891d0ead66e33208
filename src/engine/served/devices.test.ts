import { expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'
import { devicesOf } from './devices.js'

const NAMES = ['0', '1', '2', '3', '4', '5', '6', '7']
const devices = (keys: Record<string, unknown>, index: number, auxiliary?: number, names = NAMES) => {
  const engines = { 'explorer.rollout_model.engine_type': 'vllm', 'trainer.trainer_type': 'torch' }
  const machine = { gpus: names.length, pytorch: true, hasPackage: () => true }
  return devicesOf(withKeys({ ...engines, ...keys }, machine), index, auxiliary, names)
}

it('servers get the GPUs behind those of the trainer, one after the other', () => {
  const two = { 'explorer.rollout_model.engine_num': 2, 'explorer.rollout_model.tensor_parallel_size': 2 }
  expect([0, 1].map((index) => devices(two, index))).toEqual(['4,5', '6,7'])
  const named = ['GPU-a', 'GPU-b', 'GPU-c']
  expect(devices({}, 0, undefined, named)).toBe('GPU-c')
  expect(devices({ 'explorer.rollout_model.engine_num': 1 }, 0)).toBe('7')
})

it('auxiliary models get GPUs of their own, whatever the engines of the others are', () => {
  const judges = [
    { model_path: 'a', engine_type: 'torch', engine_num: 2 },
    { model_path: 'b', engine_type: 'vllm', tensor_parallel_size: 2 },
  ]
  const keys = { 'explorer.auxiliary_models': judges }
  expect(devices(keys, 0, 1)).toBe('3,4')
  expect(devices(keys, 0)).toBe('5')
})

it('none where there are none, or where a server runs already', () => {
  expect(devices({}, 0, undefined, [])).toBeUndefined()
  expect(devices({ 'explorer.rollout_model.base_url': 'http://h' }, 0)).toBeUndefined()
})
