import { describe, expect, it } from 'vitest'
import { BASE, errorsOf, resolve, resolveAll, settings, withKeys } from '../../../test/config-kit.js'

const sync = (set: Record<string, unknown>) => withKeys(set).synchronizer
const TRAIN = { mode: 'train', 'buffer.train_batch_size': 4 }
const GPU = { 'explorer.rollout_model.engine_type': 'torch', 'trainer.trainer_type': 'torch' }

describe('paths and names', () => {
  it('of the run', () => {
    const config = withKeys({ project: 'p', group: 'g', name: 'n', checkpoint_root_dir: 'ck' })
    expect(config).toMatchObject({
      checkpoint_root_dir: '/w/ck',
      checkpoint_job_dir: '/w/ck/p/g/n',
      ray_namespace: 'p/g/n',
      buffer: { cache_dir: '/w/ck/p/g/n/buffer', tokenizer_path: 'm' },
      monitor: { cache_dir: '/w/ck/p/g/n/monitor' },
      log: { save_dir: '/w/ck/p/g/n/log' },
    })
    expect(withKeys({ project: 'p', name: 'n' }).ray_namespace).toBe('p/n')
    expect(withKeys({ checkpoint_root_dir: '/abs' }).checkpoint_job_dir).toBe('/abs/Trinity-RFT/rft')
    expect(withKeys({ ray_namespace: 'mine' }).synchronizer.ray_namespace).toBe('mine')
  })

  it('a fresh start gets a folder of its own, except for bench', () => {
    const used = { isEmptyDir: () => false }
    expect(withKeys({ continue_from_checkpoint: false }, used)).toMatchObject({
      name: 'rft_20260102030405',
      checkpoint_job_dir: '/w/Trinity-RFT/rft_20260102030405',
    })
    expect(withKeys({ continue_from_checkpoint: false }).name).toBe('rft')
    expect(withKeys({ continue_from_checkpoint: false, mode: 'bench' }, used)).toMatchObject({
      name: 'rft',
      continue_from_checkpoint: true,
      explorer: { name: 'benchmark' },
    })
  })
})

describe('synchronizer', () => {
  it('nccl only where it can work', () => {
    expect(sync(GPU).sync_method).toBe('nccl')
    const apart = { ...GPU, 'explorer.rollout_model.engine_type': 'vllm', 'trainer.trainer_type': 'torch' }
    const vllm = (keys: object = {}) =>
      withKeys({ ...apart, ...keys }, { gpus: 8, pytorch: true, hasPackage: () => true })
    expect(vllm().synchronizer.sync_method).toBe('checkpoint')
    expect(vllm({ 'synchronizer.sync_method': 'nccl' }).synchronizer.sync_method).toBe('nccl')
    const attached = { 'synchronizer.sync_method': 'nccl', 'explorer.rollout_model.base_url': 'http://h' }
    expect(vllm(attached).synchronizer.sync_method).toBe('checkpoint')
    expect(sync({ ...GPU, ...TRAIN }).sync_method).toBe('checkpoint')
    for (const mode of ['explore', 'bench', 'serve']) expect(sync({ ...GPU, mode }).sync_method).toBe('checkpoint')
    expect(sync({ ...GPU, 'model.lora_configs': [{}] }).sync_method).toBe('checkpoint')
    expect(sync({ mode: 'colocate' }).sync_method).toBe('memory')
    expect(sync({}).sync_method).toBe('memory')
    expect(sync({ ...GPU, 'trainer.trainer_type': 'native' }).sync_method).toBe('checkpoint')
    expect(sync({ ...GPU, 'synchronizer.sync_method': 'memory' }).sync_method).toBe('memory')
  })

  it('intervals follow sync_interval', () => {
    expect(sync({ 'synchronizer.sync_interval': 5 })).toMatchObject({
      explorer_sync_interval: 5,
      trainer_sync_interval: 5,
    })
    expect(sync({ 'synchronizer.sync_interval': 5, 'synchronizer.trainer_sync_interval': 2 })).toMatchObject({
      explorer_sync_interval: 5,
      trainer_sync_interval: 2,
    })
    expect(sync({ ...GPU, 'cluster.gpu_per_node': 4 }).explorer_world_size).toBe(1)
  })

  it('without exploration they follow the checkpoints, also when there are none', () => {
    const sft = { ...TRAIN, 'algorithm.algorithm_type': 'sft', 'buffer.trainer_input.experience_buffer.path': 'd' }
    expect(sync({ ...sft, 'trainer.save_interval': 30 })).toMatchObject({
      sync_method: 'checkpoint',
      sync_interval: 30,
    })
    expect(sync({ ...sft, 'trainer.save_interval': 0 }).sync_interval).toBe(1)
  })

  it('fully_async and evaluation exclude each other', () => {
    const set = { 'synchronizer.sync_style': 'fully_async', 'buffer.explorer_input.eval_tasksets': [{ path: 'e' }] }
    expect(errorsOf(() => sync(set))[0].key).toBe('synchronizer.sync_style')
  })
})

describe('explorer', () => {
  const interval = (set: Record<string, unknown>) => withKeys(set).explorer.eval_interval
  it('evaluates when weights have arrived', () => {
    expect(interval({ 'explorer.eval_interval': 25, 'synchronizer.sync_interval': 10 })).toBe(20)
    expect(interval({ 'explorer.eval_interval': 5, 'synchronizer.sync_interval': 10 })).toBe(10)
    expect(
      interval({
        'explorer.eval_interval': 25,
        'synchronizer.sync_interval': 10,
        'synchronizer.explorer_sync_interval': 4,
      }),
    ).toBe(24)
    expect(interval({ 'explorer.eval_interval': 25, 'synchronizer.sync_interval': 10, mode: 'bench' })).toBe(25)
    expect(interval({ 'explorer.eval_interval': 0, 'synchronizer.sync_interval': 10 })).toBe(0)
  })

  it('no more runners than tasks where a runner works on many at once', () => {
    const set = { 'explorer.runner_per_model': 32, 'buffer.batch_size': 10, 'explorer.rollout_model.engine_num': 4 }
    expect(withKeys(set).explorer.runner_per_model).toBe(32)
    expect(withKeys({ ...set, 'explorer.concurrent_mode': 'asynchronous' }).explorer.runner_per_model).toBe(3)
  })

  it('models inherit from model, also top_k and trust_remote_code', () => {
    const set = {
      'model.temperature': 0.7,
      'model.top_p': 0.9,
      'model.top_k': 20,
      'model.logprobs': 3,
      'model.trust_remote_code': true,
      'model.enable_thinking': false,
      'model.repetition_penalty': 1.1,
      'model.rope_theta': 5,
      'algorithm.enable_router_replay': true,
      'explorer.auxiliary_models': [{ model_path: 'judge', top_k: 1 }],
    }
    const { rollout_model: rollout, auxiliary_models } = withKeys(set).explorer
    const inherited = {
      temperature: 0.7,
      top_p: 0.9,
      logprobs: 3,
      trust_remote_code: true,
      enable_thinking: false,
      repetition_penalty: 1.1,
      rope_theta: 5,
      max_model_len: 2048,
      max_prompt_tokens: 1024,
      max_response_tokens: 1024,
      min_response_tokens: 0,
      enable_prompt_truncation: true,
    }
    expect(rollout).toMatchObject({
      ...inherited,
      model_path: 'm',
      top_k: 20,
      enable_return_routed_experts: true,
      enable_openai_api: false,
    })
    expect(auxiliary_models[0]).toMatchObject({
      ...inherited,
      model_path: 'judge',
      top_k: 1,
      enable_openai_api: true,
      enable_history: false,
    })
    expect(withKeys(set).trainer.trust_remote_code).toBe(true)
    expect(withKeys(set).buffer.explorer_input.tasksets[0].rollout_args).toMatchObject({
      temperature: 0.7,
      top_p: 0.9,
      top_k: 20,
      logprobs: 3,
      max_tokens: 1024,
    })
  })

  it('auxiliary models need a model', () =>
    expect(errorsOf(() => withKeys({ 'explorer.auxiliary_models': [{}] }))[0].key).toBe(
      'explorer.auxiliary_models[0].model_path',
    ))

  it('serve offers the API and records calls', () => {
    const { explorer } = withKeys({ mode: 'serve' })
    expect(explorer.rollout_model.enable_openai_api).toBe(true)
    expect(explorer.db_url).toBe('sqlite:////w/Trinity-RFT/rft/buffer/proxy_history.db')
    expect(explorer.listen_address).toBe('127.0.0.1')
    const open = withKeys({ mode: 'serve', 'explorer.proxy_api_key': 'k' }).explorer
    expect(open.listen_address).toBe('0.0.0.0')
  })

  it('over-rollout below 1, and not with fixed', () => {
    const over = (ratio: number, style: string) =>
      withKeys({ 'explorer.over_rollout.ratio': ratio, 'synchronizer.sync_style': style })
    expect(over(0.2, 'explorer_driven').explorer.over_rollout.ratio).toBe(0.2)
    expect(errorsOf(() => over(1, 'explorer_driven'))).toHaveLength(1)
    expect(errorsOf(() => over(0.2, 'fixed'))).toHaveLength(1)
  })
})

describe('trainer', () => {
  const trainer = (set: Record<string, unknown>) => withKeys(set).trainer
  it('tokens of a micro-batch', () => {
    expect(trainer({}).max_token_len_per_gpu).toBe(4096)
    expect(
      trainer({ 'model.max_model_len': 4001, 'trainer.ulysses_sequence_parallel_size': 4 }).max_token_len_per_gpu,
    ).toBe(2001)
    expect(
      trainer({ 'trainer.trainer_strategy': 'megatron', 'trainer.megatron.context_parallel_size': 2 })
        .max_token_len_per_gpu,
    ).toBe(2048)
    const short = {
      'model.max_model_len': 48,
      'trainer.trainer_type': 'native',
      'explorer.rollout_model.engine_type': 'native',
    }
    expect(trainer(short).max_token_len_per_gpu).toBe(1024)
    expect(trainer({ ...short, 'trainer.max_token_len_per_gpu': 7 }).max_token_len_per_gpu).toBe(7)
    expect(trainer({ 'trainer.max_token_len_per_gpu': 7 }).max_token_len_per_gpu).toBe(7)
    expect(trainer({ 'trainer.ulysses_sequence_parallel_size': 0 }).ulysses_sequence_parallel_size).toBe(1)
  })

  it('total_steps in mode train', () => {
    expect(trainer({ ...TRAIN, 'buffer.total_steps': 9 }).total_steps).toBe(9)
    expect(trainer({ 'buffer.total_steps': 9 }).total_steps).toBeNull()
    expect(trainer({ ...TRAIN, 'buffer.total_steps': 9, 'trainer.total_steps': 3 }).total_steps).toBe(3)
  })

  it('there is no warm-up without a critic', () => {
    expect(trainer({ 'algorithm.algorithm_type': 'ppo', 'trainer.critic_warmup': 5 }).critic_warmup).toBe(5)
    const { stages, remarks } = resolveAll(BASE, {
      set: settings({ 'algorithm.algorithm_type': 'grpo', 'trainer.critic_warmup': 5 }),
    })
    expect(stages[0].config.trainer.critic_warmup).toBe(0)
    expect(remarks).toMatchObject([{ severity: 'warning', key: 'trainer.critic_warmup' }])
  })

  it('a configuration file of its own is gone', () =>
    expect(errorsOf(() => trainer({ 'trainer.trainer_config_path': 'x.yaml' }))[0].code).toBe('missing-file'))

  it('adapters are not trained with megatron', () =>
    expect(trainer({ 'trainer.trainer_strategy': 'megatron', 'model.lora_configs': [{}] }).trainer_strategy).toBe(
      'fsdp',
    ))
})

describe('ordinary files are quiet', () => {
  it('no warning for derived values', () => expect(resolveAll(BASE).remarks).toEqual([]))
  it('resolving twice changes nothing', () => {
    const once = withKeys({ project: 'p', 'cluster.gpu_per_node': 4 })
    expect(resolve(JSON.stringify(once))).toEqual(once)
  })
})
