import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { convertCheckpoint } from '../../src/convert/index.js'
import { nextCall } from '../../src/engine/calls.js'
import { NativeEngine } from '../../src/engine/native/engine.js'
import type { Family } from '../../src/model/architecture.js'
import { createModel } from '../../src/model/create.js'
import { exportGguf, unpackGguf } from '../../src/model/gguf/index.js'
import { withRope } from '../../src/run/rope.js'

const sizes = { layers: 2, hidden: 32, heads: 4, kvHeads: 2, intermediate: 64, vocab: 300 }

/** Numbers of config.json as Transformers writes them in published models. */
const published: Readonly<Record<string, string>> = {
  attention_dropout: '0.0',
  attn_logit_softcapping: '50.0',
  final_logit_softcapping: '30.0',
  initializer_range: '0.020',
  partial_rotary_factor: '1.0',
  rms_norm_eps: '1e-06',
  rope_local_base_freq: '10000.0',
  rope_theta: '1000000.0',
  router_aux_loss_coef: '1.0',
}

/** Replaces the numbers of config.json by those of a published model. */
export async function writePublishedNumbers(dir: string): Promise<void> {
  const file = join(dir, 'config.json')
  let text = (await readFile(file, 'utf8')).replace('{\n', '{\n  "attention_dropout": 0,\n')
  if (text.includes('num_experts')) text = text.replace('{\n', '{\n  "router_aux_loss_coef": 1,\n')
  for (const [key, number] of Object.entries(published)) {
    text = text.replace(new RegExp(`("${key}": )-?[\\d.e+-]+`), `$1${number}`)
  }
  await writeFile(file, text)
}

/** Numbers of a JSON file by key, as they are spelled. */
export async function numbersOf(file: string): Promise<Record<string, string>> {
  const text = await readFile(file, 'utf8')
  return Object.fromEntries([...text.matchAll(/"(\w+)": (-?\d[\w.+-]*)/g)].map(([, key, number]) => [key, number]))
}

/**
 * Makes a model with the numbers of a published one, and a directory of it in every way that writes config.json. Returns
 * the directories by way. `made` and `gguf` have a new config.json, the others that of `source`.
 */
export async function saveEveryWay(root: string, arch: Family): Promise<Record<string, string>> {
  const at = (name: string) => join(root, `${arch}-${name}`)
  const dirs = { made: at('made'), source: at('source'), saved: at('saved'), critic: at('critic') }
  // GGUF files of these families need a head of their own
  const tie = !['olmo2', 'phi3'].includes(arch)
  for (const out of [dirs.made, dirs.source]) await createModel({ ...sizes, out, arch, tie, seed: 1 })
  await writePublishedNumbers(dirs.source)
  const engine = new NativeEngine()
  for (const head of ['lm', 'value'] as const) {
    const model = await engine.openTrain({ path: dirs.source, head }, nextCall())
    await model.save(head === 'lm' ? dirs.saved : dirs.critic, nextCall())
    await model.close()
  }
  await engine.close()
  const [saved, critic] = [dirs.saved, dirs.critic].map((dir) => join(dir, 'huggingface'))
  await convertCheckpoint(saved, at('converted'), {})
  await exportGguf(dirs.source, at('model.gguf'), { type: 'f16' })
  await unpackGguf(at('model.gguf'), at('gguf'))
  const rope = { rope_scaling: { rope_type: 'linear', factor: 2 }, rope_theta: null }
  const stretched = arch === 'phi3' ? saved : await withRope(saved, rope, { defer: () => {} })
  return { ...dirs, saved, critic, converted: at('converted'), gguf: at('gguf'), stretched }
}
