import { TrinityError } from '../base/error.js'

/** As `model_type` names it. */
export type Family =
  | 'gemma2'
  | 'gemma3_text'
  | 'llama'
  | 'mistral'
  | 'olmo2'
  | 'phi3'
  | 'qwen2'
  | 'qwen3'
  | 'qwen3_moe'
  | 'smollm3'

/** `lm`: next-token logits. `sequence`: scores of the last token (reward model). `token`: scores of every token (critic). */
export type ModelHead = 'lm' | 'sequence' | 'token'

const classNames: Record<Family, string> = {
  gemma2: 'Gemma2',
  gemma3_text: 'Gemma3',
  llama: 'Llama',
  mistral: 'Mistral',
  olmo2: 'Olmo2',
  phi3: 'Phi3',
  qwen2: 'Qwen2',
  qwen3: 'Qwen3',
  qwen3_moe: 'Qwen3Moe',
  smollm3: 'SmolLM3',
}
const headNames: Record<ModelHead, string> = {
  lm: 'ForCausalLM',
  sequence: 'ForSequenceClassification',
  token: 'ForTokenClassification',
}

export const families = Object.keys(classNames) as Family[]

const architectures = new Map<string, { family: Family; head: ModelHead }>()
for (const family of families) {
  for (const head of Object.keys(headNames) as ModelHead[]) {
    architectures.set(architectureName(family, head), { family, head })
  }
}

/** The class name that Transformers uses, as in `LlamaForCausalLM`. */
export function architectureName(family: Family, head: ModelHead): string {
  // Classifiers named after Gemma 3 alone are those that see images.
  const text = family === 'gemma3_text' && head !== 'lm' ? 'Text' : ''
  return classNames[family] + text + headNames[head]
}

/**
 * No other name is suggested: models of another kind often hold the same tensors and compute something else.
 * `modelType` is what Transformers goes by.
 */
export function architectureOf(
  name: string,
  modelType: string | undefined,
  path: string,
): { family: Family; head: ModelHead } {
  const known = architectures.get(name)
  if (!known) {
    throw new TrinityError('model/architecture', `unknown model architecture '${name}'`, {
      path,
      hint: `supported: ${families.map((family) => architectureName(family, 'lm')).join(', ')}, and their classifiers`,
    })
  }
  if (modelType === undefined || modelType === known.family) return known
  throw new TrinityError('model/architecture', `'${name}' is not of model_type '${modelType}'`, {
    path,
    hint: 'restore config.json as it was published: Transformers follows model_type and would compute a different model',
  })
}
