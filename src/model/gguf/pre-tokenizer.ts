import { TrinityError } from '../../base/error.js'
import { isJsonObject, type JsonObject } from '../../base/file/json-file.js'

/** How tokenizer.json says what llama.cpp knows by a name (`tokenizer.ggml.pre`). */
export interface PreTokenizer {
  readonly pre_tokenizer: JsonObject
  readonly normalizer: JsonObject | null
  /** A word of the vocabulary is a token whatever the merges would make of it. */
  readonly ignore_merges: boolean
}

const byteLevel = (use_regex: boolean): JsonObject => ({
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex,
})

const split = (regex: string): JsonObject => ({
  type: 'Sequence',
  pretokenizers: [{ type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false }, byteLevel(false)],
})

/** Words, numbers of up to so many digits, signs, spaces. */
const words = (digits: string) =>
  `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`

/** Words that may begin with a run of capitals, and end with an apostrophe's; else as above. */
const casedWords = (() => {
  const [upper, lower] = ['[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]', '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]']
  const [before, end] = ['[^\\r\\n\\p{L}\\p{N}]?', "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"]
  const either = `${before}${upper}*${lower}+${end}|${before}${upper}+${lower}*${end}`
  return `${either}|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`
})()

const plain = { normalizer: null, ignore_merges: false }
const qwen2: PreTokenizer = { ...plain, pre_tokenizer: split(words('')), normalizer: { type: 'NFC' } }
const gpt2: PreTokenizer = { ...plain, pre_tokenizer: byteLevel(true) }

const known: Readonly<Record<string, PreTokenizer>> = {
  'gpt-2': gpt2,
  smollm: {
    ...plain,
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, byteLevel(true)] },
  },
  qwen2,
  'llama-bpe': { ...plain, pre_tokenizer: split(words('{1,3}')), ignore_merges: true },
  dbrx: { ...plain, pre_tokenizer: split(words('{1,3}')) },
  'gpt-4o': { ...plain, pre_tokenizer: split(casedWords) },
  'deepseek-r1-qwen': qwen2,
}

export function preTokenizer(name: string, path: string): PreTokenizer {
  if (Object.hasOwn(known, name)) return known[name]
  throw new TrinityError('gguf/tokenizer', `${path} splits text as '${name}' does, which is not known here`, {
    path,
    hint: `known: ${Object.keys(known).join(', ')}; use the Hugging Face directory of this model`,
  })
}

/** The name by which llama.cpp knows how a tokenizer.json splits text. Without merges, any way of splitting is the same. */
export function preTokenizerName(tokenizer: JsonObject, path: string): string {
  const model = isJsonObject(tokenizer.model) ? tokenizer.model : {}
  const merges = Array.isArray(model.merges) ? model.merges.length : 0
  const own = shape(tokenizer.pre_tokenizer)
  const ignores = model.ignore_merges === true
  const fits = ({ pre_tokenizer, ignore_merges, normalizer }: PreTokenizer) =>
    shape(pre_tokenizer) === own &&
    (merges === 0 || (normalizes(tokenizer) === normalizes({ normalizer }) && ignores === ignore_merges))
  const name = Object.keys(known).find((name) => fits(known[name]))
  if (name !== undefined) return name
  if (merges === 0 && own.includes('ByteLevel')) return 'gpt-2'
  throw new TrinityError('gguf/tokenizer', `${path} splits text in a way that llama.cpp has no name for here`, {
    path,
    hint: `known: ${Object.keys(known).join(', ')}`,
  })
}

const normalizes = ({ normalizer }: { normalizer?: unknown }): string =>
  isJsonObject(normalizer) ? String(normalizer.type) : ''

/** What matters of a pre-tokenizer: kinds, patterns and switches, in order. */
function shape(part: unknown): string {
  if (!isJsonObject(part)) return ''
  if (Array.isArray(part.pretokenizers)) return part.pretokenizers.map(shape).join(' ')
  const pattern = isJsonObject(part.pattern) ? (part.pattern.Regex ?? part.pattern.String) : ''
  const uses = part.type === 'ByteLevel' ? part.use_regex !== false : part.individual_digits === true
  return `${String(part.type)}:${String(pattern)}:${uses}`
}
