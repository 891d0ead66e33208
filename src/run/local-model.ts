import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { openRepo } from '../hub/index.js'
import { type ModelConfig, parseModelConfig } from '../model/config.js'
import { readModelConfig } from '../model/index.js'
import { type Rope, ropedConfig } from './rope.js'

/** The configuration of a model that is on this machine, in a folder or in the cache; nothing is downloaded for it. */
export async function localModel(path: string, rope?: Rope): Promise<ModelConfig | undefined> {
  const dir = await localDir(path)
  if (dir === undefined) return undefined
  const { config, json } = await readModelConfig(dir)
  const isOther = rope && (rope.rope_scaling !== null || rope.rope_theta !== null)
  return isOther ? parseModelConfig(ropedConfig(json, rope), dir) : config
}

async function localDir(path: string): Promise<string | undefined> {
  if (await stat(path).catch(() => undefined)) return resolve(path)
  const repo = await openRepo('model', path, { env: { ...process.env, HF_HUB_OFFLINE: '1' } }).catch(() => undefined)
  return repo?.download(['config.json']).catch(() => undefined)
}
