import { TrinityError } from '../../base/error.js'
import type { JsonObject } from '../../base/file/json-file.js'
import { nearest } from '../../base/nearest.js'
import type { ModelConfig } from '../../model/config.js'
import { Gaussian } from '../../model/gaussian.js'
import { layerModule, linearModules } from '../../model/layout.js'
import type { LoraSpec } from '../contract.js'
import type { NativeAdapter, NativeParam } from './addon.js'

export interface Lora {
  readonly modules: readonly NativeAdapter[]
  /** What adapter_config.json says of it: ranks, scales and modules, in PEFT's words. */
  readonly peft: JsonObject
}

/** A fresh adapter: the same rank and scale in the modules that are asked for, of every layer. */
export function loraOf(spec: LoraSpec, config: ModelConfig): Lora {
  const modules = linearModules(config)
  const names = modules.map(({ part }) => part as string)
  const known = (name: string) => {
    if (names.includes(name)) return name
    const near = nearest(name, names)
    throw new TrinityError('engine/lora', `there is no linear module '${name}'`, {
      path: 'target_modules',
      hint: (near ? `did you mean '${near}'? ` : '') + `known: ${names.join(', ')}, all-linear`,
    })
  }
  const wanted = spec.targetModules === 'all-linear' ? names : spec.targetModules.map(known)
  const excluded = (spec.excludeModules ?? []).map(known)
  const targets = modules.filter(({ part }) => wanted.includes(part) && !excluded.includes(part))
  if (targets.length === 0)
    throw new TrinityError('engine/lora', 'no module is left for the adapter', { path: 'target_modules' })
  checkRank(spec.rank, config, 'rank')
  if (!(spec.alpha > 0)) throw new TrinityError('engine/lora', `alpha is ${spec.alpha}`, { path: 'alpha' })
  const scale = spec.alpha / spec.rank
  return {
    modules: Array.from({ length: config.layers }, (_, layer) =>
      targets.map(({ part }) => ({ module: layerModule(layer, part), rank: spec.rank, scale })),
    ).flat(),
    peft: {
      r: spec.rank,
      lora_alpha: spec.alpha,
      use_rslora: false,
      target_modules: targets.map(({ part }) => part),
      rank_pattern: {},
      alpha_pattern: {},
    },
  }
}

export function checkRank(rank: number, config: ModelConfig, path: string): void {
  if (Number.isInteger(rank) && rank >= 1 && rank <= config.hiddenSize) return
  throw new TrinityError('engine/lora', `rank is ${rank}`, { path, hint: `use 1 … ${config.hiddenSize}` })
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

/** adapter_config.json. A head that was trained beside the adapter is a module that PEFT saves whole. */
export function peftConfig(lora: Lora, base: string, head: boolean): JsonObject {
  return {
    peft_type: 'LORA',
    task_type: head ? 'TOKEN_CLS' : 'CAUSAL_LM',
    base_model_name_or_path: base,
    ...lora.peft,
    lora_dropout: 0,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    modules_to_save: head ? ['score'] : null,
  }
}
