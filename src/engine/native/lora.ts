import { TrinityError } from '../../base/error.js'
import type { JsonObject } from '../../base/file/json-file.js'
import { asFloats } from '../../base/json-numbers.js'
import { nearest } from '../../base/nearest.js'
import type { ModelConfig } from '../../model/config.js'
import { Gaussian } from '../../model/gaussian.js'
import type { Head, LoraSpec } from '../contract.js'
import { isChosen, type LoraTarget, loraTargets } from '../lora-targets.js'
import type { NativeAdapter, NativeParam } from './addon.js'

export interface Lora {
  readonly modules: readonly NativeAdapter[]
  /** What adapter_config.json says of it: ranks, scales and modules, in PEFT's words. */
  readonly peft: JsonObject
}

/** A fresh adapter: the same rank and scale in the modules that are asked for. */
export function loraOf(spec: LoraSpec, config: ModelConfig, head: Head): Lora {
  const all = loraTargets(config, head)
  const names = all.map(({ name }) => name)
  const given = [...(spec.targetModules === 'all-linear' ? [] : spec.targetModules), ...(spec.excludeModules ?? [])]
  const unknown = given.find((name) => !names.includes(name))
  if (unknown !== undefined) {
    const near = nearest(unknown, names)
    throw new TrinityError('engine/lora', `there is no module '${unknown}' for an adapter`, {
      path: spec.excludeModules?.includes(unknown) ? 'exclude_modules' : 'target_modules',
      hint: (near ? `did you mean '${near}'? ` : '') + `known: ${names.join(', ')}, all-linear`,
    })
  }
  const targets = all.filter((target) => isChosen(target, spec))
  if (targets.length === 0)
    throw new TrinityError('engine/lora', 'no module is left for the adapter', { path: 'target_modules' })
  for (const target of targets) checkTied(target, config, head, 'target_modules')
  checkRank(spec.rank, config, 'lora_rank')
  if (!(spec.alpha > 0)) {
    throw new TrinityError('engine/lora', `alpha is ${spec.alpha}`, { path: 'lora_alpha', hint: 'use more than 0' })
  }
  const scale = spec.alpha / spec.rank
  return {
    modules: targets.flatMap(({ modules }) => modules.map((module) => ({ module, rank: spec.rank, scale }))),
    peft: {
      r: spec.rank,
      lora_alpha: spec.alpha,
      use_rslora: false,
      target_modules: targets.map(({ name }) => name),
      rank_pattern: {},
      alpha_pattern: {},
    },
  }
}

/** An adapter of one end of a tied weight would part the two. */
export function checkTied({ name, layered }: LoraTarget, config: ModelConfig, head: Head, path: string): void {
  if (layered || !config.tieEmbeddings || head !== 'lm') return
  throw new TrinityError('engine/lora', `this model ties embed_tokens and lm_head, so '${name}' can have no adapter`, {
    path,
    hint: 'adapt modules of the layers, or use a model with tie_word_embeddings: false',
  })
}

export function checkRank(rank: number, config: ModelConfig, path: string): void {
  if (Number.isInteger(rank) && rank >= 1 && rank <= config.hiddenSize) return
  throw new TrinityError('engine/lora', `rank is ${rank}`, { path, hint: `use 1 … ${config.hiddenSize}` })
}

export function isAdapter(name: string): boolean {
  return name.includes('.lora_')
}

/**
 * A new adapter changes nothing. As in PEFT: A normal with its variance (1 / 3·in), B zero; of an embedding A zero, B
 * normal with variance 1.
 */
export function initialAdapter({ name, rows, cols }: NativeParam, seed: number): Float32Array {
  const values = new Float32Array(rows * cols)
  if (name.endsWith('lora_B.weight') || name.endsWith('lora_embedding_A')) return values
  const noise = new Gaussian(seed, name)
  const width = name.endsWith('lora_embedding_B') ? 1 : 1 / Math.sqrt(3 * cols)
  for (let i = 0; i < values.length; i++) values[i] = noise.next() * width
  return values
}

/** The names PEFT gives to what is trained. */
export function peftName(name: string): string {
  return `base_model.model.${name}`
}

/** adapter_config.json. A head that was trained beside the adapter is a module that PEFT saves whole. */
export function peftConfig(lora: Lora, base: string, head: boolean): JsonObject {
  const json = {
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
  return asFloats(json, new Set(['lora_dropout']))
}
