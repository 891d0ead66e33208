import { Tokenizer as HfTokenizer } from '@huggingface/tokenizers'
import { readFault, TrinityError } from '../base/error.js'
import type { JsonObject } from '../base/file/json-file.js'
import { DecodeStream } from './decode-stream.js'
import { PieceEncoder } from './piece-encoder.js'
import { RecentTexts } from './recent-texts.js'
import { parseTokenDecoder, type TokenDecoder } from './token-bytes.js'
import { readTokenizerFiles, type TokenizerFiles } from './tokenizer-files.js'
import { useUnicodeClasses } from './unicode-classes.js'

const nothing = new Uint8Array(0)
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Text to token ids and back, as the tokenizer.json of a model directory says. */
export class Tokenizer {
  /** Where it was read from. */
  readonly path: string
  /** Smallest number above every id. A model's vocabulary may be larger (padded), never smaller. */
  readonly vocabSize: number
  readonly specialTokens: Readonly<Record<string, string>>
  readonly bosId?: number
  readonly eosId?: number
  readonly padId?: number
  /** Jinja source, where the directory has one. */
  readonly chatTemplate?: string
  readonly strip: TokenDecoder['strip']
  /** Stands between tokens of a decoded text. */
  readonly between: string
  readonly #tokenizer: HfTokenizer
  readonly #vocab: readonly (string | undefined)[]
  readonly #special: ReadonlySet<number>
  readonly #added: ReadonlySet<number>
  readonly #decoder: TokenDecoder
  readonly #bytes: (Uint8Array | undefined)[] = []
  readonly #recent = new RecentTexts()
  readonly #pieces: PieceEncoder | undefined
  #longest: number | undefined

  constructor(files: TokenizerFiles) {
    this.path = files.path
    this.#tokenizer = build(files.tokenizer, files.path)
    this.#pieces = PieceEncoder.of(this.#tokenizer)
    const added = [...this.#tokenizer.get_added_tokens_decoder()]
    this.#added = new Set(added.map(([id]) => id))
    this.#special = new Set(added.filter(([, token]) => token.special).map(([id]) => id))
    this.#vocab = (this.#tokenizer.model as unknown as { vocab: (string | undefined)[] }).vocab
    this.vocabSize = this.#vocab.length
    this.#decoder = parseTokenDecoder(files.tokenizer.decoder, files.path)
    this.strip = this.#decoder.strip
    this.between = this.#decoder.between
    this.specialTokens = files.specialTokens
    this.bosId = this.#idOfSpecial('bos_token')
    this.eosId = this.#idOfSpecial('eos_token')
    this.padId = this.#idOfSpecial('pad_token')
    this.chatTemplate = files.chatTemplate
  }

  /** Reads tokenizer.json, tokenizer_config.json and chat_template.jinja of a model directory. */
  static async load(dir: string): Promise<Tokenizer> {
    return new Tokenizer(await readTokenizerFiles(dir))
  }

  /** No token stands for more characters than that. */
  get longestToken(): number {
    this.#longest ??= this.#vocab.reduce((most, token) => Math.max(most, token?.length ?? 0), 1)
    return this.#longest
  }

  /** `addSpecial`: put the tokens around the text that the model expects around a plain text (often bos). */
  encode(text: string, options: { addSpecial?: boolean } = {}): Int32Array {
    if (options.addSpecial) return this.#encode(text, true)
    if (text === '') return new Int32Array(0)
    const known = this.#recent.get(text)
    if (known) return known
    const tokens = this.#pieces?.encode(text) ?? this.#encode(text, false)
    this.#recent.add(text, tokens)
    return tokens
  }

  #encode(text: string, addSpecial: boolean): Int32Array {
    const ids = this.#tokenizer.encode(text, { add_special_tokens: addSpecial }).ids as unknown[]
    if (ids.some((id) => id === undefined)) {
      throw new TrinityError('tokenizer/encode', 'the tokenizer has no token for a part of the text', {
        path: this.path,
        hint: 'give the tokenizer an unk_token, or leave out characters it does not know',
      })
    }
    return Int32Array.from(ids as number[])
  }

  /** Broken UTF-8 decodes to U+FFFD; ids without a token (padding of the vocabulary) decode to nothing. */
  decode(ids: Iterable<number>, options: { skipSpecial?: boolean } = {}): string {
    const list = Array.isArray(ids) || ArrayBuffer.isView(ids) ? (ids as ArrayLike<number>) : [...ids]
    const atOnce = this.#decodeAtOnce(list, options.skipSpecial ?? true)
    if (atOnce !== undefined) return atOnce
    const stream = this.stream(options)
    let text = ''
    for (let i = 0; i < list.length; i++) text += stream.push(list[i])
    return text + stream.end()
  }

  /** Where a text is the bytes of its tokens and nothing else; a call of the decoder for each token takes twice the time. */
  #decodeAtOnce(ids: ArrayLike<number>, skipSpecial: boolean): string | undefined {
    if (this.strip || this.between !== '') return undefined
    const parts: Uint8Array[] = []
    let length = 0
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]
      if (skipSpecial && this.#special.has(id)) continue
      if (this.isByte(id)) return undefined
      const bytes = this.tokenBytes(id)
      parts.push(bytes)
      length += bytes.length
    }
    const all = new Uint8Array(length)
    let at = 0
    for (const bytes of parts) {
      for (let i = 0; i < bytes.length; i++) all[at + i] = bytes[i]
      at += bytes.length
    }
    return utf8.decode(all)
  }

  /** Decodes tokens as they arrive. */
  stream(options: { skipSpecial?: boolean } = {}): DecodeStream {
    return new DecodeStream(this, options)
  }

  /** The bytes that a token adds to a text. */
  tokenBytes(id: number): Uint8Array {
    const known = this.#bytes[id]
    if (known) return known
    const token = this.#vocab[id]
    if (token === undefined) return nothing
    const bytes = this.#decoder.bytes(token)
    this.#bytes[id] = bytes
    return bytes
  }

  /** The token stands for one byte of a character that the vocabulary does not have. */
  isByte(id: number): boolean {
    const token = this.#vocab[id]
    return token !== undefined && this.#decoder.isByte(token)
  }

  /** A token as the vocabulary spells it. */
  tokenText(id: number): string | undefined {
    return this.#vocab[id]
  }

  tokenId(token: string): number | undefined {
    return this.#tokenizer.token_to_id(token)
  }

  isSpecial(id: number): boolean {
    return this.#special.has(id)
  }

  /** Stands beside the vocabulary of the model, special or not. */
  isAdded(id: number): boolean {
    return this.#added.has(id)
  }

  #idOfSpecial(name: string): number | undefined {
    const token = this.specialTokens[name]
    return token === undefined ? undefined : this.tokenId(token)
  }
}

/** The package checks little of what it reads: anything it throws means that the file is not a tokenizer. */
function build(json: JsonObject, path: string): HfTokenizer {
  try {
    checkVocabulary(json)
    const tokenizer = new HfTokenizer(json, { clean_up_tokenization_spaces: false })
    useUnicodeClasses(tokenizer)
    tokenizer.encode('a', { add_special_tokens: true })
    return tokenizer
  } catch (cause) {
    throw new TrinityError('tokenizer/invalid', `${path} is not a usable tokenizer: ${readFault(cause)}`, {
      path,
      hint: 'write it again with Transformers: AutoTokenizer.from_pretrained(…).save_pretrained(…)',
      cause,
    })
  }
}

/** Far above every real vocabulary; ids are array indices, so that one huge id would cost memory without bound. */
const maxId = 1 << 24

function checkVocabulary(json: JsonObject): void {
  const model = json.model as JsonObject | undefined
  const vocab = model?.vocab
  if (typeof vocab !== 'object' || vocab === null) throw new Error('model.vocab is missing')
  // Unigram vocabularies are lists of [token, score]; their ids are positions.
  if (!Array.isArray(vocab)) for (const id of Object.values(vocab)) checkId(id, 'model.vocab')
  if (json.added_tokens === undefined || json.added_tokens === null) json.added_tokens = []
  if (!Array.isArray(json.added_tokens)) throw new Error('added_tokens is not a list')
  for (const token of json.added_tokens as JsonObject[]) {
    checkId(token?.id, 'added_tokens')
    if (typeof token.content !== 'string') throw new Error('an added token has no content')
  }
}

function checkId(id: unknown, where: string): void {
  if (!Number.isSafeInteger(id) || (id as number) < 0 || (id as number) > maxId) {
    throw new Error(`${where} holds the id ${JSON.stringify(id)?.slice(0, 40)}`)
  }
}
