import { expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'
import { tinkerOptions } from './options.js'

const of = (keys: Record<string, unknown>) =>
  tinkerOptions(withKeys({ 'model.tinker.enable': true, 'model.model_path': 'my/model', ...keys }), () => {})

it('the keys of model.tinker say what is trained, and where', () => {
  const given = {
    'model.tinker.rank': 4,
    'model.tinker.train_mlp': false,
    'model.tinker.base_url': 'http://localhost:1',
  }
  const { adapter, baseUrl, trainer } = of(given)
  expect(adapter).toMatchObject({ baseModel: 'my/model', rank: 4, mlp: false, attention: true, unembed: true })
  expect([baseUrl, trainer]).toEqual(['http://localhost:1', undefined])
  expect(of({ 'model.tinker.base_model': 'Org/Name' }).adapter.baseModel).toBe('Org/Name')
})

it('only where nothing is sampled between a step and its transfer, weights alternate', () => {
  expect(of({ 'synchronizer.sync_interval': 1 }).alternates).toBe(true)
  expect(of({ 'synchronizer.sync_interval': 2 }).alternates).toBe(false)
})

it('what is trained must be sampled at temperature 1', () => {
  expect(() => of({ 'model.temperature': 0.7 })).toThrowError(
    expect.objectContaining({ code: 'engine/unsupported', path: 'explorer.rollout_model.temperature' }),
  )
})

it('weights of another trainer cannot reach the service', () => {
  const keys = { 'explorer.rollout_model.engine_type': 'tinker', 'trainer.trainer_type': 'native' }
  expect(tinkerOptions(withKeys(keys), () => {}).trainer).toBe('native')
})
