import { TrinityError } from '../../base/error.js'
import { isJsonObject, type JsonObject } from '../../base/file/json-file.js'
import type { ModelDir } from '../dir.js'
import { Tokenizer } from '../tokenizer.js'
import { readTokenizerFiles, type TokenizerFiles } from '../tokenizer-files.js'
import { endTokenEntries } from './end-tokens.js'
import { preTokenizerName } from './pre-tokenizer.js'
import { isSentencePiece, pieceScores } from './sentence-piece.js'
import { tokenKind } from './tokenizer.js'
import type { Entry } from './write.js'

/**
 * The metadata by which llama.cpp makes the tokenizer of a model directory. `unnamed`: texts of end tokens at which it
 * will not stop.
 */
export async function tokenizerMetadata({
  path,
  config,
  eosTokenIds,
}: Pick<ModelDir, 'path' | 'config' | 'eosTokenIds'>): Promise<{ metadata: Map<string, Entry>; unnamed: string[] }> {
  const files = await readTokenizerFiles(path)
  const tokenizer = new Tokenizer(files)
  const kind = kindOf(files)
  const tokens = tokensOf(tokenizer, config.vocabSize, kind)
  const out = new Map<string, Entry>()
  const set = (name: string, entry: Entry) => out.set(`tokenizer.ggml.${name}`, entry)
  const merges = mergesOf(files.tokenizer)
  set('model', { type: 'text', value: kind })
  set('pre', { type: 'text', value: kind === 'llama' ? 'default' : preTokenizerName(files.tokenizer, files.path) })
  set('tokens', { type: 'texts', value: tokens.map(({ text }) => text) })
  if (kind === 'llama') {
    const scores = pieceScores(merges)
    set('scores', { type: 'f32s', value: tokens.map(({ text }) => scores.get(text) ?? 0) })
    const prefix = tokenizer.tokenText(tokenizer.encode('a')[0])?.startsWith('▁') ?? false
    set('add_space_prefix', { type: 'bool', value: prefix })
  } else set('merges', { type: 'texts', value: merges.map(([left, right]) => `${left} ${right}`) })
  set('token_type', { type: 'i32s', value: tokens.map(({ kind }) => kind) })
  const { eosId } = tokenizer
  const ends = [...new Set([...(eosId === undefined ? [] : [eosId]), ...eosTokenIds])]
  const textOf = (id: number) => (tokenizer.isSpecial(id) ? tokenizer.tokenText(id) : undefined)
  const { entries, rest } = endTokenEntries(ends, textOf)
  const ids = [['bos_token_id', tokenizer.bosId], ...entries, ['padding_token_id', tokenizer.padId]] as const
  for (const [name, id] of ids) if (id !== undefined) set(name, { type: 'u32', value: id })
  const unknown = files.specialTokens.unk_token
  const unknownId = unknown === undefined ? undefined : tokenizer.tokenId(unknown)
  if (unknownId !== undefined) set('unknown_token_id', { type: 'u32', value: unknownId })
  const first = tokenizer.encode('a', { addSpecial: true })[0]
  set('add_bos_token', { type: 'bool', value: tokenizer.bosId !== undefined && first === tokenizer.bosId })
  if (files.chatTemplate !== undefined) out.set('tokenizer.chat_template', { type: 'text', value: files.chatTemplate })
  return { metadata: out, unnamed: rest.map((id) => tokenizer.tokenText(id) ?? String(id)) }
}

function kindOf({ tokenizer, path }: TokenizerFiles): 'gpt2' | 'llama' {
  if (isSentencePiece(tokenizer)) return 'llama'
  const model = isJsonObject(tokenizer.model) ? tokenizer.model : {}
  if (model.type === 'BPE' && JSON.stringify(tokenizer.decoder).includes('"ByteLevel"')) return 'gpt2'
  throw new TrinityError('gguf/tokenizer', `${path} is neither byte-level BPE nor like SentencePiece`, {
    path,
    hint: 'llama.cpp has no tokenizer for it; train a model with one of these two kinds (`trinity model new --tokenizer bytes`)',
  })
}

interface Token {
  readonly text: string
  readonly kind: number
}

/** Every id up to the size of the embedding; ids without a token are unused. */
function tokensOf(tokenizer: Tokenizer, size: number, kind: 'gpt2' | 'llama'): Token[] {
  return Array.from({ length: size }, (_, id) => {
    const text = tokenizer.tokenText(id)
    if (text === undefined) return { text: `[PAD${id}]`, kind: tokenKind.unused }
    if (kind === 'llama' && id === tokenizer.tokenId('<unk>')) return { text, kind: tokenKind.unknown }
    if (tokenizer.isSpecial(id)) return { text, kind: tokenKind.control }
    if (tokenizer.isAdded(id)) return { text, kind: tokenKind.user }
    return { text, kind: kind === 'llama' && tokenizer.isByte(id) ? tokenKind.byte : tokenKind.normal }
  })
}

/** Written as `a b` or as a pair, by the age of the file. */
function mergesOf({ model }: JsonObject): [string, string][] {
  const merges = isJsonObject(model) && Array.isArray(model.merges) ? model.merges : []
  return merges.map((merge): [string, string] => {
    if (Array.isArray(merge)) return [String(merge[0]), String(merge[1])]
    const at = String(merge).indexOf(' ', 1)
    return [String(merge).slice(0, at), String(merge).slice(at + 1)]
  })
}
