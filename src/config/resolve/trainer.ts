import type { EngineFacts } from '../catalog.js'
import type { Config } from '../section/config.js'
import type { Engines } from './engine.js'
import type { Scope } from './scope.js'

type Trainer = Config['trainer']

function microBatch(longest: number | null, parts: number, { leastTokens = 1 }: EngineFacts): number | null {
  return longest === null ? null : Math.max(leastTokens, Math.ceil((2 * longest) / parts))
}

export function resolveTrainer(config: Config, engines: Engines, scope: Scope): Trainer {
  const given = config.trainer
  if (given.trainer_config_path !== '') {
    const hint = 'give its path from the current folder, or put its content under trainer.trainer_config'
    scope.error('missing-file', 'trainer.trainer_config_path', `there is no file ${given.trainer_config_path}`, hint)
  }
  const critic = scope.algorithm?.use_critic ?? false
  if (given.critic_warmup > 0 && !critic) {
    const text = `${config.algorithm.algorithm_type} has no critic to warm up`
    scope.warn('no-effect', 'trainer.critic_warmup', text)
  }
  const lora = (config.model.lora_configs?.length ?? 0) > 0
  if (lora && given.trainer_strategy === 'megatron') {
    scope.warn('value', 'trainer.trainer_strategy', 'adapters are trained with fsdp, not megatron')
  }
  const strategy = lora && given.trainer_strategy === 'megatron' ? 'fsdp' : given.trainer_strategy
  const sequence = Math.max(1, given.ulysses_sequence_parallel_size)
  const parts = strategy === 'megatron' ? given.megatron.context_parallel_size : sequence
  return {
    ...given,
    trainer_type: engines.trainer.name,
    trainer_strategy: strategy,
    critic_warmup: critic ? given.critic_warmup : 0,
    ulysses_sequence_parallel_size: sequence,
    max_token_len_per_gpu:
      given.max_token_len_per_gpu ?? microBatch(config.model.max_model_len, parts, engines.trainer),
    total_steps: given.total_steps ?? (config.mode === 'train' ? config.buffer.total_steps : null),
    trust_remote_code: config.model.trust_remote_code,
  }
}
