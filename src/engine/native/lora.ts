import { TrinityError } from '../../base/error.js'
import { nearest } from '../../base/nearest.js'
import type { ModelConfig } from '../../model/config.js'
import { Gaussian } from '../../model/gaussian.js'
import { linearModules } from '../../model/layout.js'
import type { LoraSpec } from '../contract.js'
import type { NativeParam } from './addon.js'

export interface Lora {
  readonly rank: number
  readonly alpha: number
  /** Module names, in the order of the layer. */
  readonly targets: readonly string[]
}

/** Which modules get an adapter. */
export function loraOf(spec: LoraSpec, config: ModelConfig): Lora {
  const modules = linearModules(config).map(({ part }) => part as string)
  const known = (name: string) => {
    if (modules.includes(name)) return name
    const near = nearest(name, modules)
    throw new TrinityError('engine/lora', `there is no linear module '${name}'`, {
      path: 'target_modules',
      hint: (near ? `did you mean '${near}'? ` : '') + `known: ${modules.join(', ')}, all-linear`,
    })
  }
  const wanted = spec.targetModules === 'all-linear' ? modules : spec.targetModules.map(known)
  const excluded = (spec.excludeModules ?? []).map(known)
  const targets = modules.filter((name) => wanted.includes(name) && !excluded.includes(name))
  if (targets.length === 0)
    throw new TrinityError('engine/lora', 'no module is left for the adapter', { path: 'target_modules' })
  if (!Number.isInteger(spec.rank) || spec.rank < 1 || spec.rank > config.hiddenSize) {
    throw new TrinityError('engine/lora', `rank is ${spec.rank}`, {
      path: 'rank',
      hint: `use 1 … ${config.hiddenSize}`,
    })
  }
  if (!(spec.alpha > 0)) throw new TrinityError('engine/lora', `alpha is ${spec.alpha}`, { path: 'alpha' })
  return { rank: spec.rank, alpha: spec.alpha, targets }
}

export function isAdapter(name: string): boolean {
  return name.includes('.lora_')
}

/** A new adapter changes nothing: A normal with the variance that PEFT starts it with (1 / 3·in), B zero. */
export function initialAdapter({ name, rows, cols }: NativeParam, seed: number): Float32Array {
  const values = new Float32Array(rows * cols)
  if (name.endsWith('lora_B.weight')) return values
  const noise = new Gaussian(seed, name)
  const width = 1 / Math.sqrt(3 * cols)
  for (let i = 0; i < values.length; i++) values[i] = noise.next() * width
  return values
}

/** The names PEFT gives to what is trained. */
export function peftName(name: string): string {
  return `base_model.model.${name}`
}

export function peftConfig(lora: Lora, base: string): Record<string, unknown> {
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: base,
    r: lora.rank,
    lora_alpha: lora.alpha,
    lora_dropout: 0,
    target_modules: lora.targets,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    use_rslora: false,
    modules_to_save: null,
  }
}
