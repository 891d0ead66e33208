import type { ModelConfig } from '../model/config.js'
import { layerModule, linearModules } from '../model/layout.js'
import type { Head, LoraSpec } from './contract.js'

/** What an adapter may sit in. */
export interface LoraTarget {
  /** As `target_modules` names it. */
  readonly name: string
  /** The modules of that name, in full: `model.layers.0.self_attn.q_proj`. */
  readonly modules: readonly string[]
  readonly in: number
  readonly out: number
  /** A linear module of the layers. The others are adapted where they are named: `all-linear` leaves them out, as in PEFT. */
  readonly layered: boolean
}

export function loraTargets(config: ModelConfig, head: Head): LoraTarget[] {
  const { hiddenSize, vocabSize, layers } = config
  const targets: LoraTarget[] = linearModules(config).map(({ part, in: width, out }) => ({
    name: part,
    modules: Array.from({ length: layers }, (_, layer) => layerModule(layer, part)),
    in: width,
    out,
    layered: true,
  }))
  targets.push({
    name: 'embed_tokens',
    modules: ['model.embed_tokens'],
    in: vocabSize,
    out: hiddenSize,
    layered: false,
  })
  if (head === 'lm')
    targets.push({ name: 'lm_head', modules: ['lm_head'], in: hiddenSize, out: vocabSize, layered: false })
  return targets
}

export function isChosen({ name, layered }: LoraTarget, { targetModules, excludeModules = [] }: LoraSpec): boolean {
  return (targetModules === 'all-linear' ? layered : targetModules.includes(name)) && !excludeModules.includes(name)
}

/** The names of an adapter's two factors behind that of its module. */
export function factorNames(module: string): readonly [a: string, b: string] {
  return module === 'model.embed_tokens'
    ? [`${module}.lora_embedding_A`, `${module}.lora_embedding_B`]
    : [`${module}.lora_A.weight`, `${module}.lora_B.weight`]
}
