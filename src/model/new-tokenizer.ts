import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { writeJsonFile } from '../base/file/atomic-file.js'
import { readJsonObject } from '../base/file/json-file.js'
import { makeFolder } from '../base/file/make-folder.js'
import { byteTokenizer, characterTokenizer } from './character-tokenizer.js'
import { ChatTemplate, templateSource } from './chat-template.js'
import { copyTokenizer } from './tokenizer-save.js'

/** `bytes`: one token per byte. `chars`: one per character of a text. `from`: the tokenizer of a model directory. */
export type NewTokenizer = { kind: 'bytes' } | { kind: 'chars'; characters: string } | { kind: 'from'; dir: string }

const special = ['<|pad|>', '<|end|>', '<|unk|>', '<|system|>', '<|user|>', '<|assistant|>', '<|tool|>']

/** Each role is one token, so that a chat costs a tiny model little of its context. */
const plainTemplate =
  "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"

/** `bytes`, `chars:0123+=`, `from:DIR`; in characters, \n, \t and \\ are understood. */
export function parseNewTokenizer(text: string): NewTokenizer {
  if (text === 'bytes') return { kind: 'bytes' }
  if (text.startsWith('from:')) return { kind: 'from', dir: text.slice(5) }
  if (text.startsWith('chars:')) {
    const escapes: Record<string, string> = { n: '\n', t: '\t', '\\': '\\' }
    const characters = text.slice(6).replace(/\\([nt\\])/g, (_, letter: string) => escapes[letter])
    return { kind: 'chars', characters }
  }
  throw new TrinityError('cli/tokenizer', `cannot make a tokenizer from '${text}'`, {
    path: '--tokenizer',
    hint: 'use bytes, chars:… with the characters it should know, or from:DIR with a model directory',
  })
}

/** Writes tokenizer files into `dir`. `template`: Jinja source or a file; default: one that suits the vocabulary. */
export async function writeNewTokenizer(dir: string, wanted: NewTokenizer, template?: string): Promise<void> {
  await makeFolder(dir)
  const source = template === undefined ? undefined : (await templateSource(template)).source
  if (source !== undefined) new ChatTemplate(source) // refuses what is not Jinja
  if (wanted.kind === 'from') {
    await copyTokenizer(wanted.dir, dir)
    if (source === undefined) return
    const config = (await readJsonObject(join(dir, 'tokenizer_config.json'), { keepNumbers: true })) ?? {}
    await rm(join(dir, 'chat_template.jinja'), { force: true })
    await writeJsonFile(join(dir, 'tokenizer_config.json'), { ...config, chat_template: source })
    return
  }
  await writeJsonFile(
    join(dir, 'tokenizer.json'),
    wanted.kind === 'bytes' ? byteTokenizer(special) : characters(wanted),
  )
  await writeJsonFile(join(dir, 'tokenizer_config.json'), {
    tokenizer_class: 'PreTrainedTokenizerFast',
    pad_token: '<|pad|>',
    eos_token: '<|end|>',
    ...(wanted.kind === 'chars' ? { unk_token: '<|unk|>' } : {}),
    clean_up_tokenization_spaces: false,
    chat_template: source ?? plainTemplate,
  })
}

function characters({ characters }: { characters: string }) {
  const unique = [...new Set(characters)]
  if (unique.length === 0) {
    throw new TrinityError('cli/tokenizer', 'a character tokenizer needs at least one character', {
      path: '--tokenizer',
    })
  }
  return characterTokenizer(unique, special, '<|unk|>')
}
