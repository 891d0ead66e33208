import { expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'
import { sglangServers } from './engine.js'

it('our keys are flags of the server', () => {
  const { explorer } = withKeys({
    'explorer.rollout_model.tensor_parallel_size': 2,
    'explorer.rollout_model.enable_prefix_caching': false,
    'explorer.rollout_model.extra_engine_args': { attention_backend: 'triton' },
  })
  const line = sglangServers.args({ path: '/m', maxModelLen: 2048 }, explorer.rollout_model, 3000).join(' ')
  for (const flag of [
    ...['--model-path /m', '--context-length 2055', '--tp-size 2', '--disable-radix-cache', '--port 3000'],
    ...['--mem-fraction-static 0.9', '--sampling-backend pytorch', '--attention-backend triton'],
  ]) {
    expect(line).toContain(flag)
  }
  expect(line).not.toContain('disable-cuda-graph')
})
