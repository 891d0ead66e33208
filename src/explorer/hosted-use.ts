import type { SampleModel } from '../engine/contract.js'
import type { ContextParts } from './contexts.js'

/** What the services of hosted models were asked for since the run began: it is what they charge for. */
export function hostedUse({ config, model, auxiliary = [] }: ContextParts): Record<string, number> {
  const { name, model_path } = config.explorer.rollout_model
  const all: (readonly [string, SampleModel | undefined])[] = [
    [name ?? model_path ?? 'policy', model[0]],
    ...auxiliary.map((one, i) => [one.config.name ?? `auxiliary_${i}`, one.samplers?.[0]] as const),
  ]
  const metrics: Record<string, number> = {}
  for (const [name, sampler] of all) {
    if (!sampler?.info.readsChat) continue
    const { requests = 0, retries = 0, promptTokens, sampledTokens } = sampler.stats()
    const use = { requests, retries, prompt_tokens: promptTokens, completion_tokens: sampledTokens }
    for (const [key, value] of Object.entries(use)) metrics[`hosted/${name}/${key}`] = value
  }
  return metrics
}
