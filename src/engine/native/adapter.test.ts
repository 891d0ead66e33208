import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../base/file/json-file.js'
import { defineLoss } from '../../graph/index.js'
import { createModel } from '../../model/create.js'
import { openModelDir } from '../../model/dir.js'
import { type TensorToWrite, writeSafetensors } from '../../model/safetensors-write.js'
import { saveModel } from '../../model/save.js'
import { nextCall } from '../calls.js'
import type { LoraSpec, ModelSpec } from '../contract.js'
import { NativeEngine } from './engine.js'
import { random } from './tiny.fixture.js'

/**
 * An adapter directory against the same model with the adapter added to its weights by hand: weight + scale · B·A, with
 * the scale that PEFT's documentation gives.
 */
const hidden = 16
const engine = new NativeEngine()
let root: string
let base: string
const q = 'model.layers.0.self_attn.q_proj'
const down = 'model.layers.1.mlp.down_proj'
const embedding = 'model.embed_tokens'
const vocab = 272
const widths: Record<string, [number, number]> = {
  [q]: [hidden, hidden],
  [down]: [hidden, 48],
  lm_head: [vocab, hidden],
  [embedding]: [hidden, vocab],
}
const plain = { peft_type: 'LORA', r: 2, lora_alpha: 6, target_modules: ['q_proj', 'down_proj'] }
const surprise = defineLoss((g) => g.logprob.neg().total())
const asked: LoraSpec = { rank: 32, alpha: 32, targetModules: 'all-linear' }

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'trinity-adapter-'))
  base = join(root, 'base')
  await createModel({ out: base, layers: 2, hidden, heads: 2, intermediate: 48, vocab, tie: false, seed: 3 })
})
afterAll(async () => {
  await engine.close()
  await rm(root, { recursive: true })
})

let count = 0
/** Writes an adapter with these ranks, and a model into which it is merged with these scales. */
async function adapter(
  config: JsonObject,
  parts: Record<string, { rank: number; scale: number }>,
  extra: string[] = [],
) {
  const path = join(root, `adapter ${count++}`)
  const next = random(count)
  const draw = (size: number) => Float32Array.from({ length: size }, () => next() - 0.5)
  const tensors: TensorToWrite[] = []
  const merged = new Map<string, Float32Array>()
  for (const [module, { rank, scale }] of Object.entries(parts)) {
    const [out, width] = widths[module]
    const a = draw(rank * width)
    const b = draw(out * rank)
    const [nameA, nameB] =
      module === embedding ? ['lora_embedding_A', 'lora_embedding_B'] : ['lora_A.weight', 'lora_B.weight']
    const name = `base_model.model.${module}`
    tensors.push({ name: `${name}.${nameA}`, dtype: 'F32', shape: [rank, width], data: () => a })
    tensors.push({ name: `${name}.${nameB}`, dtype: 'F32', shape: [out, rank], data: () => b })
    const sum = new Float32Array(out * width)
    for (let r = 0; r < out; r++) {
      for (let c = 0; c < width; c++) {
        // an embedding's factors are those of its transpose
        const at = module === embedding ? c * out + r : r * width + c
        for (let i = 0; i < rank; i++) sum[at] += scale * b[r * rank + i] * a[i * width + c]
      }
    }
    merged.set(`${module}.weight`, sum)
  }
  for (const name of extra) tensors.push({ name, dtype: 'F32', shape: [2], data: () => new Float32Array(2) })
  await mkdir(path)
  await writeSafetensors(join(path, 'adapter_model.safetensors'), tensors)
  await writeFile(join(path, 'adapter_config.json'), JSON.stringify(config))
  return { path, whole: await mergedModel(path, merged) }
}

async function mergedModel(path: string, added: Map<string, Float32Array>): Promise<string> {
  const from = await openModelDir(base)
  const tensors: TensorToWrite[] = []
  for (const name of from.tensorNames()) {
    const values = await from.readTensor(name)
    added.get(name)?.forEach((x, i) => {
      values[i] += x
    })
    tensors.push({ name, dtype: 'F32', shape: from.tensorInfo(name).shape, data: () => values })
  }
  const out = `${path} merged`
  await saveModel(out, { configJson: from.configJson, tensors, from: base })
  await from.close()
  return out
}

async function logprobs(spec: ModelSpec): Promise<number[]> {
  const model = await engine.openTrain(spec, nextCall())
  const tokens = Int32Array.from([5, 9, 1, 17, 3, 8, 2, 40])
  const row = { id: 'r', bundle: 'r', tokens, start: 1, mask: new Uint8Array(7).fill(1), temperature: 1, columns: {} }
  const [scores] = await model.forward({ rows: [row], tokenBudget: 64 }, { scores: ['logprob'] }, nextCall())
  await model.close()
  return [...scores.logprob!]
}

async function expectMerged(config: JsonObject, parts: Record<string, { rank: number; scale: number }>) {
  const { path, whole } = await adapter(config, parts)
  const [own, theirs] = [await logprobs({ path: base, lora: { ...asked, path } }), await logprobs({ path: whole })]
  for (const [i, x] of own.entries()) expect(x).toBeCloseTo(theirs[i], 4)
  expect(Math.abs(own[0] - (await logprobs({ path: base }))[0])).toBeGreaterThan(1e-4)
}

describe('an adapter directory', () => {
  it('has the scale of its own file: alpha / rank', () =>
    expectMerged(plain, { [q]: { rank: 2, scale: 3 }, [down]: { rank: 2, scale: 3 } }))

  it('rsLoRA: alpha / √rank', () =>
    expectMerged(
      { ...plain, use_rslora: true },
      { [q]: { rank: 2, scale: 6 / Math.SQRT2 }, [down]: { rank: 2, scale: 6 / Math.SQRT2 } },
    ))

  it('patterns give modules ranks and alphas of their own', () =>
    expectMerged(
      {
        ...plain,
        rank_pattern: { down_proj: 5 },
        alpha_pattern: { '^model.layers.0.self_attn.q_proj': 1, 'layers\\.\\d+\\.mlp\\.down_proj': 10 },
      },
      { [q]: { rank: 2, scale: 0.5 }, [down]: { rank: 5, scale: 2 } },
    ))

  const ends = { ...plain, target_modules: ['q_proj', 'embed_tokens', 'lm_head'] }
  it('may lie in the embedding and the head', () =>
    expectMerged(ends, {
      [q]: { rank: 2, scale: 3 },
      [embedding]: { rank: 2, scale: 3 },
      lm_head: { rank: 2, scale: 3 },
    }))

  it('of the embedding and the head is trained, sampled with, merged and saved', async () => {
    const lora = { rank: 3, alpha: 6, targetModules: ['embed_tokens', 'lm_head'] }
    const model = await engine.openTrain({ path: base, lora, seed: 5 }, nextCall())
    expect(model.info.trainableParameters).toBe(2 * 3 * (vocab + hidden))
    const tokens = Int32Array.from([5, 9, 1, 17, 3, 8, 2, 40])
    const row = { id: 'r', tokens, start: 1, mask: new Uint8Array(7).fill(1), temperature: 1, columns: {} }
    const batch = { rows: [row], tokenBudget: 64 }
    const score = async (adapter: 'on' | 'off') =>
      (await model.forward(batch, { scores: ['logprob'], adapter }, nextCall()))[0].logprob!
    expect(await score('on')).toEqual(await score('off'))
    const losses: number[] = []
    for (let i = 0; i < 12; i++) {
      losses.push((await model.forwardBackward(batch, surprise, nextCall())).loss)
      await model.optimStep({ lr: 0.05, betas: [0.9, 0.99], eps: 1e-8, weightDecay: 0, gradClip: 0 }, nextCall())
    }
    expect(losses.at(-1)!).toBeLessThan(losses[0] / 2)
    const learned = await score('on')
    const sampler = await engine.openSample({ path: base, shareWith: model }, nextCall())
    expect((await sampler.score([row], nextCall()))[0].logprob).toEqual(learned)
    const params = { temperature: 1, maxTokens: 20, ignoreEos: true, seed: 2 }
    const [sample] = await sampler.sample({ prompt: tokens, n: 1, params }, nextCall())
    const all = Int32Array.from([...tokens, ...sample.tokens])
    const longer = { ...row, tokens: all, start: 8, mask: new Uint8Array(20).fill(1) }
    expect((await sampler.score([longer], nextCall()))[0].logprob).toEqual(sample.logprobs)
    const state = join(root, 'ends')
    await model.save(state, nextCall())
    await model.close()
    const whole = await logprobs({ path: join(state, 'huggingface') })
    const again = await logprobs({ path: base, lora: { ...asked, path: join(state, 'lora_adapter') } })
    expect(again).toEqual([...learned])
    for (const [i, x] of whole.entries()) expect(x).toBeCloseTo(again[i], 4)
    expect(JSON.parse(await readFile(join(state, 'lora_adapter', 'adapter_config.json'), 'utf8'))).toMatchObject({
      target_modules: ['embed_tokens', 'lm_head'],
    })
  })

  it('of a tied embedding is refused: it would part it from the head', async () => {
    const tied = join(root, 'tied')
    await createModel({ out: tied, layers: 2, hidden, heads: 2, intermediate: 48, vocab, tie: true, seed: 3 })
    const message = expect.stringMatching(/ties embed_tokens and lm_head/)
    const open = (lora: LoraSpec, head?: 'value') => engine.openTrain({ path: tied, lora, head }, nextCall())
    await expect(open({ ...asked, rank: 2, targetModules: ['lm_head'] })).rejects.toMatchObject({ message })
    const { path } = await adapter(ends, {
      [q]: { rank: 2, scale: 3 },
      [embedding]: { rank: 2, scale: 3 },
      lm_head: { rank: 2, scale: 3 },
    })
    await expect(open({ ...asked, path })).rejects.toMatchObject({ message })
    // a critic has no such head
    await (await open({ ...asked, rank: 2, targetModules: ['embed_tokens'] }, 'value')).close()
  })

  it('says once where its settings differ, and keeps them when it is saved', async () => {
    const config = { ...plain, use_rslora: true, rank_pattern: { down_proj: 5 }, alpha_pattern: { q_proj: 1 } }
    const { path } = await adapter(config, { [q]: { rank: 2, scale: 1 }, [down]: { rank: 5, scale: 1 } })
    const model = await engine.openTrain({ path: base, lora: { ...asked, path } }, nextCall())
    expect(model.info.notes).toEqual([expect.stringMatching(/rank 2 instead of 32, alpha 6 instead of 32.*rsLoRA/)])
    const state = join(root, 'state')
    await model.save(state, nextCall())
    await model.close()
    const saved = JSON.parse(await readFile(join(state, 'lora_adapter', 'adapter_config.json'), 'utf8'))
    expect(saved).toMatchObject({ ...config, task_type: 'CAUSAL_LM', modules_to_save: null })
    const again = await logprobs({ path: base, lora: { ...asked, path: join(state, 'lora_adapter') } })
    expect(again).toEqual(await logprobs({ path: base, lora: { ...asked, path } }))

    const other = await engine.openTrain(
      { path: base, lora: { ...asked, rank: 2, targetModules: ['q_proj'] } },
      nextCall(),
    )
    await expect(other.load(state, nextCall())).rejects.toMatchObject({ code: 'engine/bad-checkpoint' })
    await other.close()
  })

  it('with a head is one of token classification', async () => {
    const critic = await engine.openTrain({ path: base, head: 'value', lora: { ...asked, rank: 2 } }, nextCall())
    expect(critic.info.notes).toBeUndefined()
    await critic.save(join(root, 'critic'), nextCall())
    const path = join(root, 'critic', 'lora_adapter')
    const saved = JSON.parse(await readFile(join(path, 'adapter_config.json'), 'utf8'))
    expect(saved).toMatchObject({ task_type: 'TOKEN_CLS', modules_to_save: ['score'] })
    await (await engine.openTrain({ path: base, head: 'value', lora: { ...asked, path } }, nextCall())).close()
    await expect(engine.openTrain({ path: base, lora: { ...asked, path } }, nextCall())).rejects.toMatchObject({
      code: 'model/adapter',
      message: expect.stringContaining('modules_to_save'),
    })
    await critic.close()
  })

  const whole = { [q]: { rank: 2, scale: 1 }, [down]: { rank: 2, scale: 1 } }
  it.each<[string, JsonObject, string[], RegExp]>([
    ['DoRA', { use_dora: true }, [], /use_dora/],
    ['modules that are saved whole', { modules_to_save: ['lm_head'] }, [], /modules_to_save \(lm_head\)/],
    ['trained biases', { bias: 'lora_only' }, [], /bias: lora_only/],
    ['biases of another form', { bias: { a: 1 } }, [], /bias: \{"a":1\} cannot/],
    ['PiSSA', { init_lora_weights: 'pissa' }, [], /init_lora_weights: pissa/],
    ['layers used twice', { layer_replication: [[0, 2]] }, [], /layer_replication/],
    ['what a later PEFT adds', { use_new: true }, [], /'use_new' \(true\)/],
    ['another kind', { peft_type: 'IA3' }, [], /IA3/],
    ['half an adapter of the embedding', {}, ['base_model.model.model.embed_tokens.lora_embedding_A'], /other half/],
    ['an embedding that is not that of the model', {}, ['base_model.model.lm_head.base_layer.weight'], /resized/],
    ['an adapter of a norm', {}, ['base_model.model.model.norm.lora_A.weight'], /no module that can have an adapter/],
    ['a rank that the tensors do not have', { r: 3 }, [], /rank 2, adapter_config.json says 3/],
    ['a module without tensors', { target_modules: ['q_proj', 'down_proj', 'k_proj'] }, [], /'k_proj'/],
    ['tensors of no target', { target_modules: ['q_proj'] }, [], /down_proj' is not among target_modules/],
  ])('refuses %s by name', async (_, change, extra, message) => {
    const { path } = await adapter({ ...plain, ...change }, whole, extra)
    await expect(engine.openTrain({ path: base, lora: { ...asked, path } }, nextCall())).rejects.toMatchObject({
      code: 'model/adapter',
      message: expect.stringMatching(message),
    })
  })

  it('refuses one without adapter_config.json', async () => {
    const { path } = await adapter(plain, whole)
    await rm(join(path, 'adapter_config.json'))
    await expect(engine.openTrain({ path: base, lora: { ...asked, path } }, nextCall())).rejects.toMatchObject({
      code: 'model/adapter',
    })
  })
})
