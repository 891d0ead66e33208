import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { readJsonObject } from '../base/file/json-file.js'
import { looksLikeRepoId } from '../hub/index.js'
import { isGguf } from '../model/gguf/file.js'
import { besides } from './besides.js'

/** Tokens of a prompt with its answer that a project begins with. */
const USUAL_LENGTH = 1024

/** The same for a model that may take fewer. */
export async function modelLength(model: string): Promise<number> {
  if (isGguf(model)) return USUAL_LENGTH
  const most = (await readJsonObject(join(model, 'config.json')))?.max_position_embeddings
  return typeof most === 'number' && most > 0 ? Math.min(most, USUAL_LENGTH) : USUAL_LENGTH
}

/** A model as `trinity.yaml` names it: a directory as seen from the project, or an id on a hub. */
export function modelPath(model: string, dir: string): string {
  if (existsSync(model)) {
    if (isGguf(model) || existsSync(join(model, 'config.json'))) return besides(dir, model, '--model')
    throw refusal(`${model} is not a model directory: it has no config.json`, model)
  }
  if (looksLikeRepoId(model)) return model
  throw refusal(`there is no model at ${model}`, model)
}

function refusal(text: string, path: string): TrinityError {
  return new TrinityError('init/model', text, {
    path,
    hint: 'give --model a directory with config.json, a .gguf file, or an id on a hub such as Qwen/Qwen2.5-0.5B-Instruct',
  })
}
