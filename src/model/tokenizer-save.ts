import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'

/** Files that make up a tokenizer, as Transformers writes them. */
const tokenizerFiles = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'chat_template.jinja',
  'vocab.json',
  'merges.txt',
  'tokenizer.model',
]

/**
 * Copies the tokenizer of a model directory; the names of the files that were there. `template`: Jinja source in place of
 * its own; a file of its own counts more than the entry in tokenizer_config.json.
 */
export async function copyTokenizer(from: string, to: string, template?: string): Promise<string[]> {
  const copied: string[] = []
  for (const name of tokenizerFiles) {
    try {
      await copyFile(join(from, name), join(to, name))
      copied.push(name)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') continue
      throw new TrinityError('tokenizer/copy', `cannot copy ${name} from ${from} to ${to}`, { path: from, cause })
    }
  }
  if (template !== undefined) await writeFile(join(to, 'chat_template.jinja'), template)
  return copied
}
