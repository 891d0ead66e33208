import { TrinityError } from '../base/error.js'
import { nearest } from '../base/nearest.js'

export type Family = 'llama' | 'qwen2' | 'qwen3'

/** `lm`: next-token logits. `sequence`: scores of the last token (reward model). `token`: scores of every token (critic). */
export type ModelHead = 'lm' | 'sequence' | 'token'

const classNames: Record<Family, string> = { llama: 'Llama', qwen2: 'Qwen2', qwen3: 'Qwen3' }
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
  return classNames[family] + headNames[head]
}

export function architectureOf(name: string, path: string): { family: Family; head: ModelHead } {
  const known = architectures.get(name)
  if (known) return known
  const near = nearest(name, architectures.keys())
  throw new TrinityError('model/architecture', `unknown model architecture '${name}'`, {
    path,
    hint: (near ? `did you mean '${near}'? ` : '') + `supported: ${[...architectures.keys()].join(', ')}`,
  })
}
