import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { isJsonObject, type JsonObject, readJsonObject } from '../base/file/json-file.js'
import { withAddedTokens } from './added-tokens.js'
import { characterTokenizer } from './character-tokenizer.js'
import { GgufFile, isGguf } from './gguf/file.js'
import { ggufTokenizer } from './gguf/tokenizer.js'

/** What the tokenizer files of a model directory say. */
export interface TokenizerFiles {
  readonly path: string
  readonly tokenizer: JsonObject
  /** `bos_token` → `<s>` and so on. */
  readonly specialTokens: Record<string, string>
  readonly chatTemplate?: string
}

/** Of a model directory, or of a GGUF file. */
export async function readTokenizerFiles(dir: string): Promise<TokenizerFiles> {
  if (isGguf(dir)) return readFromGguf(dir)
  const path = join(dir, 'tokenizer.json')
  const configPath = join(dir, 'tokenizer_config.json')
  const config = (await readJsonObject(configPath)) ?? {}
  const map = (await readJsonObject(join(dir, 'special_tokens_map.json'))) ?? {}
  const added = (await readJsonObject(join(dir, 'added_tokens.json'))) ?? {}
  const json = await readJsonObject(path)
  const tokenizer = json ? withAddedTokens(json, { config, map, added }) : fromCharacterCodes(config, configPath)
  if (!tokenizer) {
    throw new TrinityError('tokenizer/missing', `${dir} has no tokenizer.json`, {
      path: dir,
      hint: 'write one with Transformers: AutoTokenizer.from_pretrained(dir).save_pretrained(dir)',
    })
  }
  const specialTokens = { ...fromCharacterCodesSpecials(config), ...readSpecials(map), ...readSpecials(config) }
  return { path, tokenizer, specialTokens, chatTemplate: await readChatTemplate(dir, config) }
}

async function readFromGguf(path: string): Promise<TokenizerFiles> {
  const file = await GgufFile.open(path)
  try {
    const { 'tokenizer.json': tokenizer, 'tokenizer_config.json': config } = ggufTokenizer(file)
    const template = config.chat_template
    return {
      path,
      tokenizer,
      specialTokens: readSpecials(config),
      chatTemplate: typeof template === 'string' ? template : undefined,
    }
  } finally {
    await file.close()
  }
}

/** A file of its own wins over the entry in tokenizer_config.json, which may be a list of named templates. */
async function readChatTemplate(dir: string, config: JsonObject): Promise<string | undefined> {
  const own = await readFile(join(dir, 'chat_template.jinja'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (own !== undefined) return own
  const entry = config.chat_template
  if (typeof entry === 'string') return entry
  if (!Array.isArray(entry)) return undefined
  const named = entry.filter(isJsonObject)
  const chosen = named.find(({ name }) => name === 'default') ?? named[0]
  return typeof chosen?.template === 'string' ? chosen.template : undefined
}

const specialNames = ['bos_token', 'eos_token', 'pad_token', 'unk_token', 'sep_token', 'cls_token', 'mask_token']

function readSpecials(json: JsonObject): Record<string, string> {
  const out: Record<string, string> = {}
  for (const name of specialNames) {
    const value = json[name]
    const content = isJsonObject(value) ? value.content : value
    if (typeof content === 'string') out[name] = content
  }
  return out
}

/** veRL's character tokenizer for learn-from-scratch tests has no tokenizer.json, only the characters' code points. */
const characterSpecials = { sep_token: 'S', eos_token: 'E', pad_token: 'P', unk_token: 'U' }

function fromCharacterCodes(config: JsonObject, path: string): JsonObject | undefined {
  const codes = config.char_ords
  if (codes === undefined) return undefined
  if (!Array.isArray(codes) || !codes.every((code) => Number.isSafeInteger(code) && code >= 0 && code <= 0x10ffff)) {
    throw new TrinityError('tokenizer/invalid', `${path}: 'char_ords' is not a list of code points`, { path })
  }
  const characters = codes.map((code: number) => String.fromCodePoint(code))
  return characterTokenizer(characters, Object.values(characterSpecials), characterSpecials.unk_token)
}

function fromCharacterCodesSpecials(config: JsonObject): Record<string, string> {
  return config.char_ords === undefined ? {} : characterSpecials
}
