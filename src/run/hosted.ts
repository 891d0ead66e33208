import type { Config, InferenceModelConfig } from '../config/index.js'
import type { HostedSpec } from '../engine/contract.js'
import { engineNamed } from '../engine/registry.js'

/** The model that rollouts ask is that of a service: there are no weights here, and none to load. */
export function isHosted({ mode, explorer }: Config): boolean {
  return mode !== 'train' && isHostedModel(explorer.rollout_model)
}

export function isHostedModel({ engine_type }: InferenceModelConfig): boolean {
  return engineNamed(engine_type).hosted === true
}

/** Where a hosted model is. `at`: its place in the configuration. */
export function hostedSpec({ external_model_config: given, extra_engine_args }: InferenceModelConfig, at: HostedAt) {
  const spec: HostedSpec = {
    baseUrlEnv: given.base_url_env,
    apiKeyEnv: given.api_key_env,
    key: at === 'rollout' ? 'model.external_model' : `explorer.auxiliary_models[${at}].external_model_config`,
    maxInFlight: given.max_in_flight,
    maxRetries: given.max_retries,
    extra: extra_engine_args,
  }
  return spec
}

/** The rollout model, or the number of an auxiliary one. */
export type HostedAt = 'rollout' | number

/** All hosted models that a run opens. */
export function hostedModels(config: Config): HostedSpec[] {
  const { rollout_model, auxiliary_models } = config.explorer
  if (config.mode === 'train') return []
  return [
    ...(isHosted(config) ? [hostedSpec(rollout_model, 'rollout')] : []),
    ...auxiliary_models.flatMap((one, i) => (isHostedModel(one) ? [hostedSpec(one, i)] : [])),
  ]
}
