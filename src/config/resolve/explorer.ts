import { join } from 'node:path'
import type { EngineFacts } from '../catalog.js'
import type { Config, InferenceModelConfig } from '../section/config.js'
import { gpusOfEngine } from './cluster.js'
import type { Engines } from './engine.js'
import { checkHosted } from './model.js'
import { isOffline, type Scope } from './scope.js'

type Explorer = Config['explorer']

/** Engines and models; what depends on GPUs and weight updates comes in `finishExplorer`. */
export function resolveExplorer(config: Config, engines: Engines, scope: Scope): Explorer {
  const given = config.explorer
  const { over_rollout: over } = given
  if (over.ratio >= 1) scope.error('value', 'explorer.over_rollout.ratio', `expected less than 1, found ${over.ratio}`)
  if (over.ratio > 0 && config.synchronizer.sync_style === 'fixed') {
    const text = 'a step that ends early needs a synchronizer that can wait'
    scope.error('value', 'explorer.over_rollout.ratio', text, 'set synchronizer.sync_style to a style other than fixed')
  }
  return {
    ...given,
    mode: config.mode,
    name: config.mode === 'bench' ? 'benchmark' : given.name,
    runner_per_model: runners(config),
    rollout_model: rolloutModel(config, engines, scope),
    auxiliary_models: given.auxiliary_models.map((model, i) => auxiliaryModel(model, i, config, engines, scope)),
    listen_address: given.listen_address ?? (given.proxy_api_key === null ? '127.0.0.1' : '0.0.0.0'),
    db_url:
      given.db_url ??
      (config.mode === 'serve' ? `sqlite:///${join(config.checkpoint_job_dir, 'buffer', 'proxy_history.db')}` : null),
  }
}

/** More runners than tasks would wait for nothing where a runner works on many rollouts at once. */
function runners(config: Config): number {
  const { runner_per_model: asked, concurrent_mode: way, rollout_model: model } = config.explorer
  if (way === 'sequential') return asked
  return Math.min(asked, Math.ceil(config.buffer.batch_size / Math.max(1, model.engine_num)))
}

function rolloutModel(config: Config, engines: Engines, scope: Scope): InferenceModelConfig {
  const given = config.explorer.rollout_model
  const filled = fill(given, config, 'explorer.rollout_model', engines.rollout, scope)
  // a sampler that gives up its memory while the trainer computes need not be small
  const small = config.mode === 'colocate' && !engines.rollout.colocates
  const memory = small ? Math.min(0.25, given.gpu_memory_utilization) : given.gpu_memory_utilization
  return {
    ...filled,
    ...adapters(config),
    model_path: engines.rollout.hosted ? hostedName(config.model) : (given.model_path ?? config.model.model_path),
    enable_openai_api: given.enable_openai_api || config.mode === 'serve',
    enable_return_routed_experts: config.algorithm.enable_router_replay,
    external_model_config: config.model.external_model,
    gpu_memory_utilization: memory,
    cuda_visible_devices: config.mode === 'colocate' && filled.gpu_per_engine > 0 ? '0' : null,
  }
}

function auxiliaryModel(given: InferenceModelConfig, index: number, config: Config, engines: Engines, scope: Scope) {
  const key = `explorer.auxiliary_models[${index}]`
  const { hosted } = engines.auxiliary[index]
  const { external_model_config: external } = given
  if (hosted) checkHosted(external, given.model_path, `${key}.external_model_config`, scope)
  else if (!given.model_path) scope.error('missing', `${key}.model_path`, 'an auxiliary model needs a model_path')
  const filled = fill(given, config, key, engines.auxiliary[index], scope)
  const model_path = hosted ? (external.model_name ?? given.model_path) : given.model_path
  return { ...filled, model_path, enable_history: false, enable_openai_api: true }
}

function hostedName({ external_model, model_path }: Config['model']): string {
  return external_model.model_name ?? model_path
}

/** What an inference model takes over from `model`. */
function fill(
  given: InferenceModelConfig,
  config: Config,
  key: string,
  engine: EngineFacts,
  scope: Scope,
): InferenceModelConfig {
  const { model } = config
  const gpus = gpusOfEngine(given, engine, config)
  return {
    ...given,
    engine_type: engine.name,
    gpu_per_engine: gpus,
    nnodes: nodesOfEngine(given, gpus, config, key, scope),
    trust_remote_code: given.trust_remote_code ?? model.trust_remote_code,
    temperature: given.temperature ?? model.temperature,
    top_p: given.top_p ?? model.top_p,
    top_k: given.top_k ?? model.top_k,
    logprobs: given.logprobs ?? model.logprobs,
    max_model_len: given.max_model_len ?? model.max_model_len,
    max_prompt_tokens: given.max_prompt_tokens ?? model.max_prompt_tokens,
    max_response_tokens: given.max_response_tokens ?? model.max_response_tokens,
    min_response_tokens: given.min_response_tokens ?? model.min_response_tokens,
    enable_prompt_truncation: given.enable_prompt_truncation ?? model.enable_prompt_truncation,
    repetition_penalty: given.repetition_penalty ?? model.repetition_penalty,
    chat_template: given.chat_template ?? model.custom_chat_template,
    enable_thinking: given.enable_thinking ?? model.enable_thinking,
    rope_scaling: model.rope_scaling,
    rope_theta: model.rope_theta,
    ray_namespace: config.ray_namespace,
    checkpoint_job_dir: config.checkpoint_job_dir,
  }
}

/** An engine larger than a node spans whole nodes. */
function nodesOfEngine(given: InferenceModelConfig, gpus: number, config: Config, key: string, scope: Scope): number {
  const perNode = config.cluster.gpu_per_node
  if (perNode === 0 || gpus <= perNode) return 1
  if (gpus % perNode !== 0) {
    scope.error('gpu-split', key, `an engine takes ${gpus} GPUs, which do not fill whole nodes of ${perNode}`)
  }
  if (given.data_parallel_size > 1) {
    scope.error('gpu-split', `${key}.data_parallel_size`, 'copies of the model cannot spread over nodes')
  }
  return Math.ceil(gpus / perNode)
}

type Adapters = Pick<
  InferenceModelConfig,
  'enable_lora' | 'enable_runtime_lora_updating' | 'lora_modules' | 'lora_kwargs'
>

function adapters(config: Config): Adapters {
  const loras = config.model.lora_configs ?? []
  if (loras.length === 0)
    return { enable_lora: false, enable_runtime_lora_updating: false, lora_modules: null, lora_kwargs: {} }
  const job = config.checkpoint_job_dir
  return {
    enable_lora: true,
    enable_runtime_lora_updating: true,
    lora_modules: loras.map((lora, i) => ({
      lora_int_id: i + 1,
      lora_name: lora.name ?? `lora_${i}`,
      lora_path: lora.path ?? join(job, 'dummy_lora'),
      base_model_name: lora.base_model_name ?? config.model.model_path,
    })),
    lora_kwargs: {
      max_loras: loras.length,
      max_lora_rank: Math.max(...loras.map((lora) => lora.lora_rank)),
      default_lora_path: join(job, 'global_step_0', 'actor', 'lora_adapter'),
    },
  }
}

/** Evaluations fall on steps after which new weights have arrived. */
export function finishExplorer(config: Config, scope: Scope): Explorer {
  const { explorer, synchronizer } = config
  const model = { ...explorer.rollout_model, sync_method: synchronizer.sync_method }
  return { ...explorer, rollout_model: model, eval_interval: evalInterval(config, scope) }
}

function evalInterval(config: Config, scope: Scope): number {
  const asked = config.explorer.eval_interval
  const step = config.synchronizer.explorer_sync_interval ?? 1
  if (asked <= 0 || config.mode === 'bench' || isOffline(scope)) return asked
  return Math.max(1, Math.floor(asked / step)) * step
}
