import type { Tokenizer as HfTokenizer } from '@huggingface/tokenizers'

/** Of the pieces that are kept, and how long they may be. */
const MOST_PIECES = 50_000
const LONGEST_PIECE = 64

interface PreTokenizer {
  readonly config?: { readonly type?: string; readonly behavior?: string; readonly invert?: boolean }
  readonly tokenizers?: readonly (PreTokenizer | null)[]
  readonly pattern?: RegExp | string | null
  readonly add_prefix_space?: boolean
  readonly use_regex?: boolean
  pre_tokenize(text: string): string[]
}

interface Splitter {
  split(text: string): string[]
}

/** What the package keeps to itself. */
interface Internals {
  readonly normalizer: ((text: string) => string) | null
  readonly pre_tokenizer: PreTokenizer | null
  readonly post_processor: { readonly config?: { readonly type?: string } } | null
  readonly model: ((words: string[]) => string[]) & { readonly tokens_to_ids: ReadonlyMap<string, number> }
  readonly added_tokens_map: ReadonlyMap<string, { readonly id: number; lstrip: boolean; rstrip: boolean }>
  readonly splitter_unnormalized: Splitter
  readonly splitter_normalized: Splitter
}

type Words = (text: string) => readonly string[]

/**
 * Byte-level tokenizers (Qwen, Llama 3, SmolLM, GPT-2) cut a text into words and turn each into tokens by itself. Texts repeat their
 * words: tokens of a word are computed by the package once, and looked up from then on.
 */
export class PieceEncoder {
  readonly #parts: Internals
  readonly #splitters: readonly Words[]
  /** Turns what a word is written with into characters that stand for bytes. */
  readonly #bytes: PreTokenizer
  readonly #known = new Map<string, Int32Array>()
  #tokens = new Int32Array(256)
  #count = 0

  private constructor(parts: Internals, splitters: readonly Words[], bytes: PreTokenizer) {
    this.#parts = parts
    this.#splitters = splitters
    this.#bytes = bytes
  }

  /** Nothing for a tokenizer that looks beyond words. */
  static of(tokenizer: HfTokenizer): PieceEncoder | undefined {
    const parts = tokenizer as unknown as Internals
    const { type } = parts.post_processor?.config ?? {}
    if (parts.post_processor && type !== 'ByteLevel' && type !== 'TemplateProcessing') return undefined
    if ([...parts.added_tokens_map.values()].some(({ lstrip, rstrip }) => lstrip || rstrip)) return undefined
    const list = parts.pre_tokenizer?.tokenizers ?? [parts.pre_tokenizer]
    const last = list.at(-1)
    if (last?.config?.type !== 'ByteLevel' || last.add_prefix_space) return undefined
    const splitters = list.slice(0, -1).map(splitterOf)
    if (last.use_regex) splitters.push(matches(last.pattern))
    const known = splitters.filter((one) => one !== undefined)
    if (known.length < Math.max(1, splitters.length)) return undefined
    return new PieceEncoder(parts, known, Object.create(last, { use_regex: { value: false } }))
  }

  /** Nothing where a word has no token. */
  encode(text: string): Int32Array | undefined {
    const { normalizer, splitter_unnormalized, splitter_normalized, added_tokens_map } = this.#parts
    this.#count = 0
    for (const section of splitter_unnormalized.split(text)) {
      const added = added_tokens_map.get(section)
      if (added) {
        this.#add(added.id)
        continue
      }
      for (const part of splitter_normalized.split(normalizer ? normalizer(section) : section)) {
        const token = added_tokens_map.get(part)
        if (token) this.#add(token.id)
        else if (!this.#addWords(this.#splitters[0](part), 1)) return undefined
      }
    }
    return this.#tokens.slice(0, this.#count)
  }

  /** `next`: the splitter that has not cut them yet. */
  #addWords(words: readonly string[], next: number): boolean {
    for (const word of words) {
      if (next < this.#splitters.length) {
        if (!this.#addWords(this.#splitters[next](word), next + 1)) return false
        continue
      }
      const tokens = this.#known.get(word) ?? this.#compute(word)
      if (!tokens) return false
      for (let i = 0; i < tokens.length; i++) this.#add(tokens[i])
    }
    return true
  }

  #add(token: number): void {
    if (this.#count === this.#tokens.length) {
      const larger = new Int32Array(2 * this.#count)
      larger.set(this.#tokens)
      this.#tokens = larger
    }
    this.#tokens[this.#count++] = token
  }

  #compute(word: string): Int32Array | undefined {
    const { model, added_tokens_map } = this.#parts
    const names = model(this.#bytes.pre_tokenize(word))
    const ids = names.map((name) => added_tokens_map.get(name)?.id ?? model.tokens_to_ids.get(name))
    if (ids.some((id) => id === undefined)) return undefined
    const tokens = Int32Array.from(ids as number[])
    if (word.length <= LONGEST_PIECE) {
      if (this.#known.size === MOST_PIECES) this.#known.clear()
      // A part of a text would keep the whole text in memory.
      this.#known.set(Buffer.from(word, 'utf16le').toString('utf16le'), tokens)
    }
    return tokens
  }
}

function splitterOf(part: PreTokenizer | null): Words | undefined {
  const { type, behavior, invert } = part?.config ?? {}
  if (type === 'Digits' || type === 'Punctuation') return matches(part?.pattern)
  if (type !== 'Split' || invert || behavior?.toLowerCase() !== 'isolated') return undefined
  const found = matches(part?.pattern)
  return found && ((text) => coveredBy(found(text), text) ?? (part as PreTokenizer).pre_tokenize(text))
}

function matches(pattern: PreTokenizer['pattern']): Words | undefined {
  return pattern instanceof RegExp && pattern.global ? (text) => text.match(pattern) ?? [] : undefined
}

/** The words, where they are the whole text: what lies between matches is a word too, which the package finds in a slower way. */
function coveredBy(words: readonly string[], text: string): readonly string[] | undefined {
  let length = 0
  for (const word of words) {
    if (word === '') return undefined
    length += word.length
  }
  return length === text.length ? words : undefined
}
