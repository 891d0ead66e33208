import type { JsonObject } from '../base/file/json-file.js'
import { byteCharacter } from './token-bytes.js'

/** tokenizer.json of a vocabulary with one token per character: special tokens first, then the characters. */
export function characterTokenizer(characters: readonly string[], special: readonly string[], unk: string): JsonObject {
  return tokenizerJson({
    special,
    vocab: [...special, ...characters],
    unk,
    pre_tokenizer: null,
    // Fuse joins tokens without a space between them.
    decoder: { type: 'Fuse' },
  })
}

/** tokenizer.json of a vocabulary with one token per byte, behind the special tokens. Encodes any text. */
export function byteTokenizer(special: readonly string[]): JsonObject {
  const bytes = Array.from({ length: 256 }, (_, byte) => byteCharacter(byte))
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false }
  return tokenizerJson({
    special,
    vocab: [...special, ...bytes],
    unk: null,
    pre_tokenizer: byteLevel,
    decoder: byteLevel,
  })
}

interface Parts {
  special: readonly string[]
  vocab: readonly string[]
  unk: string | null
  pre_tokenizer: JsonObject | null
  decoder: JsonObject
}

/** A BPE model without merges leaves every character (or byte) a token of its own. */
function tokenizerJson({ special, vocab, unk, pre_tokenizer, decoder }: Parts): JsonObject {
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: special.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer,
    post_processor: null,
    decoder,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: unk,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(vocab.map((token, id) => [token, id])),
      merges: [],
    },
  }
}
