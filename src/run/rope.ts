import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readJsonObject } from '../base/file/json-file.js'
import type { Config } from '../config/index.js'
import { withFloats, writeModelConfig } from '../model/config-json.js'
import type { Closers } from './closers.js'

/** The keys that give a model another position encoding. */
export type Rope = Pick<Config['model'], 'rope_scaling' | 'rope_theta'>
type Json = Readonly<Record<string, unknown>>

const FILE = 'config.json'
/** Kinds of scaling that make the positions of the model last longer by their factor. */
const STRETCHING = ['linear', 'dynamic', 'yarn']

/**
 * The directory of a model with the position encoding that `model.rope_scaling` and `rope_theta` ask for: a folder of links to
 * its files, with a config.json of its own. So every engine reads it, and what is saved says it. It lasts as long as the run.
 */
export async function withRope(dir: string, rope: Rope, closers: Pick<Closers, 'defer'>): Promise<string> {
  if (rope.rope_scaling === null && rope.rope_theta === null) return dir
  const json = (await readJsonObject(join(dir, FILE), { keepNumbers: true })) as Json
  const own = await mkdtemp(join(tmpdir(), 'trinity-model-'))
  closers.defer(() => rm(own, { recursive: true, force: true }))
  for (const name of await readdir(dir)) if (name !== FILE) await symlink(join(dir, name), join(own, name))
  await writeModelConfig(own, withFloats(ropedConfig(json, rope)))
  return own
}

/** A config.json with another position encoding, in the older spelling, which every reader knows. */
export function ropedConfig({ rope_parameters, ...json }: Json, { rope_scaling, rope_theta }: Rope): Json {
  const before = { ...(rope_parameters as Json | undefined), ...(json.rope_scaling as Json | null) }
  const { rope_theta: within, ...scaling } = { ...(rope_scaling ?? before) } as Json
  const theta = rope_theta ?? within ?? before.rope_theta ?? json.rope_theta
  return {
    ...json,
    ...(theta === undefined ? {} : { rope_theta: theta }),
    rope_scaling: Object.keys(scaling).length > 0 ? scaling : null,
    ...(rope_scaling ? positions(json, scaling) : {}),
  }
}

function positions(json: Json, scaling: Json): Json {
  const { factor } = scaling
  if (typeof factor !== 'number' || !STRETCHING.includes(String(scaling.rope_type ?? scaling.type))) return {}
  const original = scaling.original_max_position_embeddings ?? json.max_position_embeddings
  return { max_position_embeddings: Math.floor(Number(original) * factor) }
}
