import { expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'
import { vllmArgs } from './flags.js'

const args = (keys: Record<string, unknown> = {}) => {
  const given = Object.fromEntries(Object.entries(keys).map(([key, value]) => [`explorer.rollout_model.${key}`, value]))
  const { explorer } = withKeys({ 'explorer.rollout_model.engine_type': 'vllm', ...given }, { hasPackage: () => true })
  return vllmArgs({ path: '/m', maxModelLen: 2048 }, explorer.rollout_model).join(' ')
}

it('our keys are flags of the server', () => {
  const usual = args()
  for (const flag of [
    ...['--model /m', '--host 127.0.0.1', '--max-model-len 2048', '--dtype bfloat16', '--tensor-parallel-size 1'],
    ...['--enable-prefix-caching', '--enable-chunked-prefill', '--gpu-memory-utilization 0.9', '--seed 42'],
    ...['--enable-scale-out', '--logprobs-mode raw_logprobs'],
  ]) {
    expect(usual).toContain(flag)
  }
  expect(usual).not.toContain('eager')
  const other = args({
    tensor_parallel_size: 2,
    enforce_eager: true,
    enable_prefix_caching: false,
    extra_engine_args: { max_num_seqs: 64, compilation_config: { level: 3 }, enable_chunked_prefill: false },
  })
  for (const flag of [
    ...['--tensor-parallel-size 2', '--enforce-eager', '--no-enable-prefix-caching', '--max-num-seqs 64'],
    ...['--compilation-config {"level":3}', '--no-enable-chunked-prefill'],
  ]) {
    expect(other).toContain(flag)
  }
})
