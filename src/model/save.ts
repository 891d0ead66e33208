import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import type { JsonObject } from '../base/file/json-file.js'
import { makeFolder } from '../base/file/make-folder.js'
import { writeModelConfig } from './config-json.js'
import { type TensorToWrite, writeSafetensors } from './safetensors-write.js'
import { copyTokenizer } from './tokenizer-save.js'

export interface ModelToSave {
  /** config.json; `torch_dtype` should name what the tensors are written as. */
  readonly configJson: JsonObject
  readonly tensors: Iterable<TensorToWrite>
  /** A model directory whose tokenizer and generation_config.json are taken over. */
  readonly from?: string
}

/** Writes a directory that any loader of Hugging Face models reads. config.json comes last: with it the model is whole. */
export async function saveModel(dir: string, { configJson, tensors, from }: ModelToSave): Promise<void> {
  await makeFolder(dir)
  if (from !== undefined) {
    await copyTokenizer(from, dir)
    await copyFile(join(from, 'generation_config.json'), join(dir, 'generation_config.json')).catch((cause) => {
      if (cause.code === 'ENOENT') return
      throw new TrinityError('model/copy', `cannot copy generation_config.json from ${from}`, { path: from, cause })
    })
  }
  await writeSafetensors(join(dir, 'model.safetensors'), tensors)
  await writeModelConfig(dir, configJson)
}
