import { TrinityError } from '../../base/error.js'
import type { JsonObject } from '../../base/file/json-file.js'
import { ConfigReader } from '../config-reader.js'
import type { GgufFile } from './file.js'
import { preTokenizer } from './pre-tokenizer.js'
import { mergesOf, pieceParts } from './sentence-piece.js'

/** Kinds of tokens by ggml's numbers. */
export const tokenKind = { normal: 1, unknown: 2, control: 3, user: 4, unused: 5, byte: 6 } as const

/** The tokenizer of a GGUF file, as the files of a Hugging Face directory would say it. */
export interface GgufTokenizerFiles {
  readonly 'tokenizer.json': JsonObject
  readonly 'tokenizer_config.json': JsonObject
}

export function ggufTokenizer(file: GgufFile): GgufTokenizerFiles {
  const meta = new ConfigReader(Object.fromEntries(file.metadata) as JsonObject, file.path)
  const tokens = meta.texts('tokenizer.ggml.tokens')
  const special = (name: string) => tokens[meta.tokenIds(`tokenizer.ggml.${name}_token_id`)[0] ?? -1]
  const bos = special('bos')
  const parts = partsOf(file, meta, tokens)
  const addsBos = meta.flag('tokenizer.ggml.add_bos_token', parts.addsBos) && bos !== undefined
  return {
    'tokenizer.json': {
      version: '1.0',
      truncation: null,
      padding: null,
      ...vocabulary(tokens, file.metadata.get('tokenizer.ggml.token_type'), parts.model),
      ...parts.around,
      post_processor: addsBos ? before(bos, tokens.indexOf(bos)) : null,
    },
    'tokenizer_config.json': defined({
      tokenizer_class: 'PreTrainedTokenizerFast',
      bos_token: bos,
      eos_token: special('eos'),
      pad_token: special('padding'),
      unk_token: special('unknown'),
      add_bos_token: addsBos,
      clean_up_tokenization_spaces: false,
      chat_template: meta.has('tokenizer.chat_template') ? meta.text('tokenizer.chat_template', '') : undefined,
    }),
  }
}

/** What the kind of a tokenizer decides. */
export interface TokenizerParts {
  /** Entries of `model` in tokenizer.json. */
  readonly model: JsonObject
  /** Entries beside it. */
  readonly around: {
    readonly normalizer: JsonObject | null
    readonly pre_tokenizer: JsonObject | null
    readonly decoder: JsonObject
  }
  /** Where the file does not say. */
  readonly addsBos: boolean
}

function partsOf(file: GgufFile, meta: ConfigReader, tokens: readonly string[]): TokenizerParts {
  const kind = meta.text('tokenizer.ggml.model', 'none')
  if (kind === 'llama') {
    const scores = file.metadata.get('tokenizer.ggml.scores')
    if (!Array.isArray(scores)) throw meta.wrong('tokenizer.ggml.scores', undefined, 'a list of numbers')
    const parts = pieceParts(meta.flag('tokenizer.ggml.add_space_prefix', true))
    return { ...parts, model: { ...parts.model, merges: mergesOf(tokens, scores) } }
  }
  if (kind === 'gpt2') {
    const { ignore_merges, ...around } = preTokenizer(meta.text('tokenizer.ggml.pre', 'gpt-2'), file.path)
    const decoder = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true }
    const merges = meta.texts('tokenizer.ggml.merges')
    return { model: { ignore_merges, merges }, around: { ...around, decoder }, addsBos: ignore_merges }
  }
  throw new TrinityError('gguf/tokenizer', `${file.path} has a tokenizer of the kind '${kind}'`, {
    path: file.path,
    hint: 'supported: gpt2 (byte-level BPE) and llama (SentencePiece); use the Hugging Face directory of this model',
  })
}

function vocabulary(tokens: readonly string[], kinds: unknown, model: JsonObject): JsonObject {
  const kindOf = (id: number): unknown => (Array.isArray(kinds) ? kinds[id] : tokenKind.normal)
  const isAdded = (kind: unknown) => kind === tokenKind.control || kind === tokenKind.user || kind === tokenKind.unknown
  const entries = tokens.map((content, id) => ({ content, id, kind: kindOf(id) }))
  return {
    added_tokens: entries
      .filter(({ kind }) => isAdded(kind))
      .map(({ content, id, kind }) => ({
        id,
        content,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: kind !== tokenKind.user,
      })),
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      // Unused ids pad the vocabulary; a token that stands there twice keeps its first id.
      vocab: Object.fromEntries(
        entries
          .filter(({ kind }) => kind !== tokenKind.unused)
          .reverse()
          .map(({ content, id }) => [content, id]),
      ),
      ...model,
    },
  }
}

/** One token in front of every text. */
function before(token: string, id: number): JsonObject {
  const first = { SpecialToken: { id: token, type_id: 0 } }
  const text = (name: 'A' | 'B') => ({ Sequence: { id: name, type_id: name === 'A' ? 0 : 1 } })
  return {
    type: 'TemplateProcessing',
    single: [first, text('A')],
    pair: [first, text('A'), { SpecialToken: { id: token, type_id: 1 } }, text('B')],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  }
}

function defined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
}
