import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { createModel } from '../model/create.js'
import { type ModelDir, openModelDir } from '../model/dir.js'
import { bytesOf } from '../model/safetensors.js'
import { type SavedTensor, saveTorch } from '../model/torch-file/torch-file.fixture.js'
import { convertCheckpoint } from './convert.js'

const shape = { layers: 3, hidden: 32, heads: 4, kvHeads: 2, headDim: 8, intermediate: 24, vocab: 264 }
const TENSOR = 2
/** Layers of each stage of the pipeline. */
const STAGES = [2, 1]

/** Rows or columns of a matrix. */
function cut({ values, shape }: SavedTensor, axis: 0 | 1, from: number, to: number): SavedTensor {
  const width = shape[1] ?? 1
  if (axis === 0) return { values: values.slice(from * width, to * width), shape: [to - from, ...shape.slice(1)] }
  const rows = Array.from({ length: shape[0] }, (_, row) => [...values.subarray(row * width + from, row * width + to)])
  return { values: Float32Array.from(rows.flat()), shape: [shape[0], to - from] }
}

function stack(parts: SavedTensor[]): SavedTensor {
  return {
    values: Float32Array.from(parts.flatMap(({ values }) => [...values])),
    shape: [parts.reduce((sum, { shape }) => sum + shape[0], 0), ...parts[0].shape.slice(1)],
  }
}

/** What Megatron's ranks hold of a model, written from the description of the layout. */
async function rankOf(model: ModelDir, tensor: number, stage: number): Promise<Map<string, SavedTensor>> {
  const get = async (name: string): Promise<SavedTensor> => ({
    values: await model.readTensor(name),
    shape: model.tensorInfo(name).shape,
  })
  const share = (whole: SavedTensor, axis: 0 | 1) => {
    const part = whole.shape[axis] / TENSOR
    return cut(whole, axis, tensor * part, (tensor + 1) * part)
  }
  const out = new Map<string, SavedTensor>()
  if (stage === 0) out.set('embedding.word_embeddings.weight', share(await get('model.embed_tokens.weight'), 0))
  if (stage === STAGES.length - 1) {
    out.set('output_layer.weight', share(await get('lm_head.weight'), 0))
    out.set('decoder.final_layernorm.weight', await get('model.norm.weight'))
  }
  const first = STAGES.slice(0, stage).reduce((a, b) => a + b, 0)
  for (let i = 0; i < STAGES[stage]; i++) {
    const [from, to] = [`model.layers.${first + i}`, `decoder.layers.${i}`]
    for (const what of ['weight', 'bias']) {
      const [q, k, v] = await Promise.all(['q', 'k', 'v'].map((one) => get(`${from}.self_attn.${one}_proj.${what}`)))
      // A rank has one of the two groups: two heads of queries, a key and a value.
      const group = [
        cut(q, 0, tensor * 16, tensor * 16 + 16),
        cut(k, 0, tensor * 8, tensor * 8 + 8),
        cut(v, 0, tensor * 8, tensor * 8 + 8),
      ]
      out.set(`${to}.self_attention.linear_qkv.${what}`, stack(group))
    }
    out.set(`${to}.self_attention.linear_qkv.layer_norm_weight`, await get(`${from}.input_layernorm.weight`))
    out.set(`${to}.self_attention.linear_proj.weight`, share(await get(`${from}.self_attn.o_proj.weight`), 1))
    out.set(`${to}.mlp.linear_fc1.layer_norm_weight`, await get(`${from}.post_attention_layernorm.weight`))
    const both = await Promise.all(['gate', 'up'].map((one) => get(`${from}.mlp.${one}_proj.weight`)))
    out.set(`${to}.mlp.linear_fc1.weight`, stack(both.map((one) => share(one, 0))))
    out.set(`${to}.mlp.linear_fc2.weight`, share(await get(`${from}.mlp.down_proj.weight`), 1))
  }
  return out
}

it('ranks of tensor and pipeline parallelism become the model again', async () => {
  const dir = await tempDir()
  const [base, ranks] = [join(dir, 'base'), join(dir, 'iter_0000010')]
  await createModel({ out: base, arch: 'qwen2', ...shape })
  const model = await openModelDir(base)
  for (let stage = 0; stage < STAGES.length; stage++) {
    for (let tensor = 0; tensor < TENSOR; tensor++) {
      const folder = join(ranks, `mp_rank_0${tensor}_00${stage}`)
      await mkdir(folder, { recursive: true })
      await saveTorch(join(folder, 'model_optim_rng.pt'), new Map([['model', await rankOf(model, tensor, stage)]]))
    }
  }
  expect(await convertCheckpoint(ranks, join(dir, 'out'), { base, dtype: 'keep' })).toContain('megatron, older layout')
  const back = await openModelDir(join(dir, 'out'))
  expect(back.tensorNames().sort()).toEqual(model.tensorNames().sort())
  for (const name of model.tensorNames()) {
    const [left, right] = [bytesOf(await model.readTensor(name)), bytesOf(await back.readTensor(name))]
    expect([name, Buffer.compare(left, right)]).toEqual([name, 0])
  }
  await model.close()
  await back.close()
  await rm(join(ranks, 'mp_rank_01_001'), { recursive: true })
  await expect(convertCheckpoint(ranks, join(dir, 'out2'), { base })).rejects.toThrow('holds 3 ranks, not 2 × 2')
})
