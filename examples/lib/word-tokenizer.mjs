// A tokenizer for tiny models: single characters, and whole words where that keeps sequences short. Byte-pair encoding
// whose merges build exactly the given words, so that any loader of Hugging Face tokenizers reads it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SPECIAL = ['<|pad|>', '<|end|>', '<|unk|>', '<|system|>', '<|user|>', '<|assistant|>']

/**
 * One token before each message says who speaks, one ends it. What stands between the marks of generation is the
 * assistant's, and is learned; a message with `learn: false` is not.
 */
const CHAT =
  "{% for message in messages %}{{ '<|' + message['role'] + '|>' }}" +
  "{% if message['role'] == 'assistant' and message['learn'] != false %}" +
  "{% generation %}{{ message['content'] + '<|end|>' }}{% endgeneration %}" +
  "{% else %}{{ message['content'] + '<|end|>' }}{% endif %}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"

/** A word with the blank before it, a number likewise, or a single character. */
const WORDS = ' ?[A-Za-z]+| ?[0-9]+|[^A-Za-z0-9]'

/**
 * Writes tokenizer.json and tokenizer_config.json into `dir`. Characters of the words are known as well. `whole`: a text
 * is cut into words first, at `pattern`, and those that are known are looked up as they are; for thousands of them.
 * `special`: further tokens that stand for themselves; `chat`: another template.
 */
export function writeWordTokenizer(
  dir,
  { words, characters = '', whole = false, pattern = WORDS, special = [], chat = CHAT },
) {
  const marks = [...SPECIAL, ...special]
  const vocab = new Set([...marks, ...characters, ...words.join(''), ...(whole ? words : [])])
  const merges = []
  for (const word of whole ? [] : words) {
    for (let end = 2; end <= word.length; end++) {
      const part = word.slice(0, end)
      if (vocab.has(part)) continue
      vocab.add(part)
      merges.push([word.slice(0, end - 1), word[end - 1]])
    }
  }
  const added = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }
  mkdirSync(dir, { recursive: true })
  write(join(dir, 'tokenizer.json'), {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: marks.map((content, id) => ({ id, content, ...added })),
    normalizer: null,
    pre_tokenizer: whole ? { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false } : null,
    post_processor: null,
    decoder: { type: 'Fuse' },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: '<|unk|>',
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: whole,
      vocab: Object.fromEntries([...vocab].map((token, id) => [token, id])),
      merges,
    },
  })
  write(join(dir, 'tokenizer_config.json'), {
    tokenizer_class: 'PreTrainedTokenizerFast',
    pad_token: '<|pad|>',
    eos_token: '<|end|>',
    unk_token: '<|unk|>',
    clean_up_tokenization_spaces: false,
    chat_template: chat,
  })
}

function write(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}
