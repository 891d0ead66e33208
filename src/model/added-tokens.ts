import { isJsonObject, type JsonObject } from '../base/file/json-file.js'

/** The files beside tokenizer.json that may name tokens. */
export interface TokenSources {
  /** tokenizer_config.json */
  readonly config: JsonObject
  /** special_tokens_map.json */
  readonly map: JsonObject
  /** added_tokens.json */
  readonly added: JsonObject
}

const named = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token']

/**
 * Tokens that stand only beside tokenizer.json, put into its `added_tokens` in the order and with the ids that
 * Transformers gives them: a token of the vocabulary keeps its id, a new one gets the next that is free.
 */
export function withAddedTokens(tokenizer: JsonObject, sources: TokenSources): JsonObject {
  const own = Array.isArray(tokenizer.added_tokens) ? (tokenizer.added_tokens as JsonObject[]) : []
  const vocab = vocabulary(tokenizer)
  const known = new Map<unknown, JsonObject>(own.map((token) => [token?.content, token]))
  const added: JsonObject[] = []
  let next = Math.max(vocab.size, ...own.map((token) => (Number.isSafeInteger(token?.id) ? Number(token.id) + 1 : 0)))
  for (const token of tokensOf(sources)) {
    const content = token.content as string
    if (content === '' || known.has(content)) continue
    const entry = { ...token, id: vocab.get(content) ?? next++ }
    known.set(content, entry)
    added.push(entry)
  }
  return added.length === 0 ? tokenizer : { ...tokenizer, added_tokens: [...own, ...added] }
}

function vocabulary({ model }: JsonObject): Map<string, number> {
  const vocab = isJsonObject(model) ? model.vocab : undefined
  // Unigram vocabularies are lists of [token, score]; their ids are positions.
  if (Array.isArray(vocab)) return new Map(vocab.map((entry, id) => [Array.isArray(entry) ? entry[0] : entry, id]))
  return new Map(isJsonObject(vocab) ? (Object.entries(vocab) as [string, number][]) : [])
}

function* tokensOf({ config, map, added }: TokenSources): Generator<JsonObject> {
  const specials = [...named.flatMap((name) => token(config[name] ?? map[name])), ...extras(config, map)]
  if (isJsonObject(config.added_tokens_decoder)) {
    yield* byNumber(Object.entries(config.added_tokens_decoder)).flatMap(token)
  } else {
    const special = new Set(specials.map(({ content }) => content))
    for (const content of byNumber(
      Object.entries(added).map(([name, id]) => [typeof id === 'string' ? id : JSON.stringify(id), name]),
    )) {
      const isSpecial = special.has(content as string)
      yield { content, special: isSpecial, normalized: !isSpecial, lstrip: false, rstrip: false, single_word: false }
    }
  }
  yield* specials
}

function byNumber(entries: [string, unknown][]): unknown[] {
  return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value)
}

function extras(config: JsonObject, map: JsonObject): JsonObject[] {
  const lists = ['additional_special_tokens', 'extra_special_tokens'].map((name) => config[name] ?? map[name])
  return lists.flatMap((list) => {
    const values = Array.isArray(list) ? list : isJsonObject(list) ? Object.values(list) : []
    return values.flatMap(token)
  })
}

/** Written as text, a token is special and taken as it stands. */
function token(value: unknown): JsonObject[] {
  const plain = { special: true, normalized: false, lstrip: false, rstrip: false, single_word: false }
  if (typeof value === 'string') return [{ content: value, ...plain }]
  if (!isJsonObject(value) || typeof value.content !== 'string') return []
  return [{ ...plain, normalized: true, special: false, ...value }]
}
