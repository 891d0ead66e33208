import type { ConfigReader } from '../config-reader.js'
import type { GgufFile } from './file.js'
import { tokenKind } from './tokenizer.js'

/** Tokens at which llama.cpp stops wherever a vocabulary has them, so that files need not list them. */
const TEXTS: ReadonlySet<string> = new Set([
  ...['<|im_end|>', '<|endoftext|>', '<|eot_id|>', '<|eom_id|>', '<|end_of_text|>', '<|end|>'],
  ...['<end_of_turn>', '<eos>', '</s>', '<EOT>', '<｜end▁of▁sentence｜>'],
])

/** Metadata keys of end tokens that a file names. */
const KEYS = ['eos', 'eot', 'eom'] as const

/** Ids of all tokens that end a generation: those that the metadata name, then those that llama.cpp knows by their text. */
export function endTokenIds(file: GgufFile, meta: ConfigReader): number[] {
  const named = KEYS.flatMap((key) => meta.tokenIds(`tokenizer.ggml.${key}_token_id`))
  const kinds = (file.metadata.get('tokenizer.ggml.token_type') ?? []) as ArrayLike<number>
  const tokens = meta.texts('tokenizer.ggml.tokens')
  const texts = tokens.flatMap((text, id) => (TEXTS.has(text) && kinds[id] === tokenKind.control ? [id] : []))
  return [...new Set([...named, ...texts])]
}

/**
 * Divides the end tokens of a model among the keys that a file has for them. `rest`: tokens for which there is neither a
 * key nor a text that llama.cpp knows.
 */
export function endTokenEntries(
  ids: readonly number[],
  textOf: (id: number) => string | undefined,
): { entries: readonly (readonly [key: string, id: number])[]; rest: readonly number[] } {
  const isKnown = (id: number) => TEXTS.has(textOf(id) ?? '')
  const [first, ...others] = ids
  const unknown = others.filter((id) => !isKnown(id))
  const ordered = [...(first === undefined ? [] : [first]), ...unknown].slice(0, KEYS.length)
  return {
    entries: ordered.map((id, i) => [`${KEYS[i]}_token_id`, id] as const),
    rest: unknown.filter((id) => !ordered.includes(id)),
  }
}
