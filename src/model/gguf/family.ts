import type { Family } from '../architecture.js'
import type { ModelConfig } from '../config.js'

/** What llama.cpp calls the families. It computes Mistral as it computes Llama. */
export const architectures: Readonly<Record<Family, string>> = {
  gemma2: 'gemma2',
  gemma3_text: 'gemma3',
  llama: 'llama',
  mistral: 'llama',
  olmo2: 'olmo2',
  phi3: 'phi3',
  qwen2: 'qwen2',
  qwen3: 'qwen3',
  qwen3_moe: 'qwen3moe',
  smollm3: 'smollm3',
}

/** The family of a file, by the name that llama.cpp has for it. */
export const familyNamed: ReadonlyMap<string, Family> = new Map(
  (Object.entries(architectures) as [Family, string][])
    .filter(([family]) => family !== 'mistral')
    .map(([family, name]) => [name, family]),
)

/** Families in which q and k of a file have their rows in pairs that are rotated together. */
export const rotatesNeighbors: readonly Family[] = ['llama', 'mistral', 'smollm3']

/** Families whose windows llama.cpp computes. */
const windowed: readonly Family[] = ['gemma2', 'gemma3_text']

/** SmolLM3: every so-many-th layer has no positions, in llama.cpp whatever a file says. */
export const UNTURNED_EVERY = 4

/** 1 / scale² of q · k, which llama.cpp derives from the sizes: the largest Gemma of each kind takes another one. */
export function gemmaScalar({
  family,
  layers,
  hiddenSize,
  heads,
  headDim,
}: Pick<ModelConfig, 'family' | 'layers' | 'hiddenSize' | 'heads' | 'headDim'>): number {
  const largest = family === 'gemma2' ? 46 : 62
  return layers === largest ? Math.floor(hiddenSize / heads) : headDim
}

/** The longest text that llama.cpp computes as we do: where it knows no windows, what the smallest of them holds. */
export function contextOf({ family, windows, maxPositions }: ModelConfig): number {
  const seen = windowed.includes(family) ? [] : (windows ?? []).filter((window) => window > 0)
  return Math.min(maxPositions, ...seen)
}

/** Why llama.cpp would compute something else than we do, or cannot load the file at all. */
export function whyNot(config: ModelConfig): string | undefined {
  const { family, head, rope, experts, layers, outBias, mlpBias, unturned = [] } = config
  const { scaling } = rope
  const isLlama = architectures[family] === 'llama'
  const gemma = config.unitNorms
  const reasons: [boolean, string][] = [
    [head !== 'lm', 'only language models become GGUF'],
    [(outBias || mlpBias) && !isLlama, 'llama.cpp has no biases there in this family'],
    [scaling.type === 'llama3' && !isLlama, 'llama.cpp knows this rotation for Llama only'],
    [scaling.type === 'yarn' && !scaling.truncate, 'llama.cpp rounds the ends of a yarn rotation'],
    [scaling.type === 'yarn' && config.near !== undefined, 'llama.cpp would stretch both rotations'],
    [
      (family === 'phi3' || family === 'olmo2') && config.heads * config.headDim !== config.hiddenSize,
      'llama.cpp wants heads that are as wide as the model together',
    ],
    [family === 'olmo2' && config.tieEmbeddings, 'llama.cpp wants a head of its own'],
    [gemma && !config.tieEmbeddings && family === 'gemma2', 'llama.cpp takes the embedding for the head'],
    [
      family === 'gemma2' && (config.attentionCap === undefined || config.logitCap === undefined),
      'llama.cpp always caps scores and logits',
    ],
    [
      gemma && Math.abs(config.attentionScale - gemmaScalar(config) ** -0.5) > 1e-6 * config.attentionScale,
      `llama.cpp takes ${gemmaScalar(config)} for query_pre_attn_scalar`,
    ],
    [
      family === 'smollm3' &&
        Array.from({ length: layers }, (_, i) => i).some(
          (i) => unturned.includes(i) !== ((i + 1) % UNTURNED_EVERY === 0),
        ),
      `llama.cpp leaves out positions in every ${UNTURNED_EVERY}th layer`,
    ],
    [family === 'qwen3_moe' && experts?.layers.length !== layers, 'llama.cpp wants experts in every layer'],
    [experts?.normalized === false, "llama.cpp makes the shares of a token's experts add up to 1"],
  ]
  return reasons.find(([holds]) => holds)?.[1]
}
