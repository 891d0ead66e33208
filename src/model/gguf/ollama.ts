import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { atomicFile } from '../../base/file/atomic-file.js'
import { makeFolder } from '../../base/file/make-folder.js'
import { inWords } from '../../base/file/system-error.js'
import { Chat } from '../chat.js'
import { openModelDir } from '../dir.js'
import { Tokenizer } from '../tokenizer.js'
import { type ExportOptions, exportGguf } from './export.js'
import { contextOf } from './family.js'
import { goTemplate } from './go-template.js'

/** Writes `model.gguf` and a `Modelfile` into a folder, for `ollama create name -f Modelfile`. What could not be said is returned. */
export async function exportOllama(path: string, out: string, options: ExportOptions): Promise<string[]> {
  const made = await inWords(makeFolder(out))
  try {
    const changed = await exportGguf(path, join(out, 'model.gguf'), options)
    const { text, notes } = await modelfile(path)
    await atomicFile(join(out, 'Modelfile'), (handle) => handle.writeFile(text))
    return [...changed, ...notes]
  } catch (error) {
    if (made !== undefined) await rm(made, { recursive: true, force: true })
    throw error
  }
}

async function modelfile(path: string): Promise<{ text: string; notes: string[] }> {
  const dir = await openModelDir(path, { unchecked: true })
  await dir.close()
  const tokenizer = await Tokenizer.load(path)
  const template = tokenizer.chatTemplate === undefined ? undefined : goTemplate((await Chat.of(tokenizer)).template)
  const stops = [...new Set([tokenizer.eosId, ...dir.eosTokenIds])].flatMap((id) =>
    id === undefined ? [] : tokenizer.tokenText(id),
  )
  const lines = [
    'FROM ./model.gguf',
    ...(template === undefined ? [] : [`TEMPLATE """${template}"""`]),
    ...stops.map((stop) => `PARAMETER stop ${JSON.stringify(stop)}`),
    `PARAMETER num_ctx ${Math.min(contextOf(dir.config), 8192)}`,
  ]
  const isLost = template === undefined && tokenizer.chatTemplate !== undefined
  const note =
    'the chat template cannot be said in the language of Ollama: it is in model.gguf only; write TEMPLATE by hand'
  return { text: `${lines.join('\n')}\n`, notes: isLost ? [note] : [] }
}
