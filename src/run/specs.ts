import type { Config } from '../config/index.js'
import type { LoraSpec } from '../engine/contract.js'

type Part = { model?: { enable_gradient_checkpointing?: unknown } } | undefined
type Tree = { actor_rollout_ref?: Part; critic?: Part }

/** On unless switched off, as veRL has it; on the processor, where memory is plenty and time is not, off unless asked for. */
function recomputes(engine: string, part: Part): boolean {
  const asked = part?.model?.enable_gradient_checkpointing
  return engine === 'torch' ? asked !== false : asked === true
}

/** Whether the policy's activations are computed again in the backward pass. */
export function policyRecomputes({ trainer }: Config, engine: string): boolean {
  return recomputes(engine, (trainer.trainer_config as Tree).actor_rollout_ref)
}

export function criticRecomputes({ trainer }: Config, engine: string): boolean {
  return recomputes(engine, (trainer.trainer_config as Tree).critic)
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
