import { type Config, trainerTree } from '../config/index.js'
import type { LoraSpec } from './contract.js'

/** Whether activations are computed again in the backward pass; `usual` where the configuration is silent. */
export function recomputes(config: Config, part: 'actor_rollout_ref' | 'critic', usual: boolean): boolean {
  return trainerTree(config)[part].model.enable_gradient_checkpointing ?? usual
}

/** Nothing is sampled between a step of the trainer and the transfer after it. */
export function alternates({ synchronizer }: Config): boolean {
  const { sync_style, trainer_sync_interval, sync_offset } = synchronizer
  return sync_style === 'fixed' && trainer_sync_interval === 1 && sync_offset === 0
}

/** Before the names of workers' logs: several explorers of a run share a folder. */
export function logPrefix({ mode, explorer }: Config): string {
  return mode === 'explore' ? `${explorer.name}_` : ''
}

export function loraSpec({ model }: Config): LoraSpec | undefined {
  const lora = model.lora_configs?.[0]
  if (!lora) return undefined
  return {
    rank: lora.lora_rank,
    alpha: lora.lora_alpha,
    targetModules: lora.target_modules === 'all-linear' ? 'all-linear' : names(lora.target_modules),
    excludeModules: lora.exclude_modules ? names(lora.exclude_modules) : undefined,
    path: lora.path ?? undefined,
  }
}

/** `q_proj, v_proj` or `[q_proj, v_proj]`. */
function names(text: string): string[] {
  return text
    .replace(/[[\]'"]/g, '')
    .split(/[\s,]+/)
    .filter((name) => name !== '')
}
