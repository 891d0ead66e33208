import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineLoss } from '../../graph/index.js'
import { createModel } from '../../model/create.js'
import { openModelDir } from '../../model/dir.js'
import { readSafetensors } from '../../model/safetensors.js'
import { Tokenizer } from '../../model/tokenizer.js'
import type { AdamStep, Call, Row, TrainModel } from '../contract.js'
import { NativeEngine } from './engine.js'

const step: AdamStep = { lr: 0.01, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0.01, gradClip: 1 }

const loss = defineLoss((g) => {
  const tokens = g.norm('tokens', (rows) => rows.reduce((n, row) => n + row.mask.reduce((a, b) => a + b, 0), 0))
  g.metric('mean_logprob', g.logprob)
  return g.column('advantage').mul(g.logprob).add(g.entropy.mul(0.01)).neg().total().div(tokens)
})
const valueLoss = defineLoss((g) => {
  const error = g.value.sub(g.column('advantage'))
  return error.mul(error).total()
})

function someRows(count: number, length = 9): Row[] {
  return Array.from({ length: count }, (_, i) => {
    const tokens = Int32Array.from({ length: 4 + ((i * 5) % length) }, (_, j) => (i * 7 + j * j + 3) % 20)
    const start = 1 + (i % 3)
    const mask = Uint8Array.from({ length: tokens.length - start }, (_, j) => (j % 4 === 2 ? 0 : 1))
    const advantage = Float32Array.from(mask, (_, j) => Math.sin(i + j))
    return { id: `row-${i}`, tokens, start, mask, temperature: i % 2 ? 0.8 : 1, columns: { advantage } }
  })
}

describe('the native engine trains', () => {
  const engine = new NativeEngine()
  let dir: string
  let path: string
  let seq = 0
  const call = (signal?: AbortSignal, deadlineMs = 60_000): Call => ({ seq: ++seq, deadlineMs, signal })
  const learn = async (model: TrainModel, rows = someRows(6), tokenBudget = 30) => {
    const result = await model.forwardBackward({ rows, tokenBudget }, loss, call())
    return { ...result, ...(await model.optimStep(step, call())) }
  }
  const logprobs = async (model: TrainModel, adapter: 'on' | 'off' = 'on') => {
    const scores = await model.forward({ rows: someRows(6), tokenBudget: 40 }, { scores: ['logprob'], adapter }, call())
    return scores.map((score) => [...score.logprob!])
  }

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'trinity-native-'))
    path = join(dir, 'model')
    await createModel({ out: path, arch: 'qwen3', hidden: 48, layers: 2, heads: 4, kvHeads: 2, headDim: 12, seed: 3 })
  })
  afterAll(async () => {
    await engine.close()
    await rm(dir, { recursive: true, force: true })
  })

  it('with any loss, whatever the micro-batches', async () => {
    const seen = []
    for (const tokenBudget of [1, 25, 1000]) {
      const model = await engine.openTrain({ path }, call())
      seen.push({ ...(await learn(model, someRows(6), tokenBudget)), after: await logprobs(model) })
      await model.close()
    }
    for (const other of seen.slice(1)) {
      expect(other.scores).toEqual(seen[0].scores)
      expect(other.loss).toBeCloseTo(seen[0].loss, 6)
      expect(other.gradNorm).toBeCloseTo(seen[0].gradNorm, 5)
    }
  })

  it('with a loss over the whole batch, by a second forward pass', async () => {
    const norms: number[] = []
    for (const [coupling, tokenBudget] of [
      ['row', 1000],
      ['batch', 10],
    ] as const) {
      const model = await engine.openTrain({ path }, call())
      const result = await model.forwardBackward({ rows: someRows(6), tokenBudget }, { ...loss, coupling }, call())
      norms.push((await model.optimStep(step, call())).gradNorm, result.loss)
      await model.close()
    }
    expect(norms[2]).toBeCloseTo(norms[0], 5)
    expect(norms[3]).toBeCloseTo(norms[1], 6)
  })

  it.each([
    ['all parameters', undefined, false],
    ['all parameters, check-pointed', undefined, true],
    ['an adapter', { rank: 4, alpha: 8, targetModules: 'all-linear' } as const, false],
  ])('and resumes exactly: %s', async (name, lora, gradientCheckpointing) => {
    const spec = { path, lora, gradientCheckpointing, seed: 5 }
    const model = await engine.openTrain(spec, call())
    await learn(model)
    await learn(model)
    const state = join(dir, name.replace(/\W/g, ''))
    await model.save(state, call())
    const straight = await learn(model)
    const resumed = await engine.openTrain({ ...spec, seed: 99 }, call())
    await resumed.load(state, call())
    expect(await learn(resumed)).toEqual(straight)
    expect(await logprobs(resumed)).toEqual(await logprobs(model))
    await Promise.all([model.close(), resumed.close()])

    // What was saved is a model of its own: an adapter is merged into it.
    const saved = await engine.openTrain({ path: join(state, 'huggingface') }, call())
    const before = await engine.openTrain(spec, call())
    await before.load(state, call())
    const [a, b] = [(await logprobs(saved)).flat(), (await logprobs(before)).flat()]
    for (const [i, x] of a.entries()) expect(Math.abs(x - b[i])).toBeLessThan(1e-5)
    await Promise.all([saved.close(), before.close()])
  })

  it('an adapter, which can be switched off and is written as PEFT reads it', async () => {
    const lora = { rank: 2, alpha: 4, targetModules: ['q_proj', 'down_proj'] }
    const model = await engine.openTrain({ path, lora }, call())
    const fresh = await logprobs(model)
    await learn(model)
    expect(await logprobs(model)).not.toEqual(fresh)
    expect(await logprobs(model, 'off')).toEqual(fresh)
    expect(model.info.trainableParameters).toBe(2 * (2 * (48 + 48) + 2 * (48 + 128)))
    const state = join(dir, 'peft')
    await model.save(state, call())
    const tensors = await readSafetensors(join(state, 'lora_adapter', 'adapter_model.safetensors'))
    expect(tensors.get('base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight')!.shape).toEqual([2, 48])
    const again = await engine.openTrain({ path, lora: { ...lora, path: join(state, 'lora_adapter') } }, call())
    expect(await logprobs(again)).toEqual(await logprobs(model))
    await Promise.all([model.close(), again.close()])
  })

  it('a chat template of its own with the weights', async () => {
    const model = await engine.openTrain({ path, chatTemplate: '{{ mine }}' }, call())
    await model.save(join(dir, 'template'), call())
    await model.close()
    expect((await Tokenizer.load(join(dir, 'template', 'huggingface'))).chatTemplate).toBe('{{ mine }}')
  })

  it('weights in bf16 on request, which it resumes from', async () => {
    const model = await engine.openTrain({ path, saveDtype: 'bfloat16' }, call())
    await model.forwardBackward({ rows: someRows(5), tokenBudget: 20 }, loss, call())
    await model.optimStep(step, call())
    const state = join(dir, 'half')
    await model.save(state, call())
    const saved = await openModelDir(join(state, 'huggingface'))
    expect([saved.config.dtype, saved.tensorInfo('model.norm.weight').dtype]).toEqual(['BF16', 'BF16'])
    await saved.close()
    const exact = await logprobs(model)
    await model.load(state, call())
    const rounded = await logprobs(model)
    const distance = Math.max(...rounded.flatMap((row, i) => [...row].map((x, j) => Math.abs(x - exact[i][j]))))
    expect(distance).toBeGreaterThan(0)
    expect(distance).toBeLessThan(0.05)
    await model.close()
  })

  it('a critic from a language model, saved as a token classifier', async () => {
    const critic = await engine.openTrain({ path, head: 'value', seed: 4 }, call())
    const rows = someRows(5)
    const first = await critic.forwardBackward({ rows, tokenBudget: 20 }, valueLoss, call())
    await critic.optimStep(step, call())
    for (let i = 0; i < 20; i++) {
      await critic.forwardBackward({ rows, tokenBudget: 20 }, valueLoss, call())
      await critic.optimStep(step, call())
    }
    const last = await critic.forwardBackward({ rows, tokenBudget: 20 }, valueLoss, call())
    expect(last.loss).toBeLessThan(first.loss * 0.7)
    await critic.discardGrad(call())
    await critic.save(join(dir, 'critic'), call())
    const saved = await openModelDir(join(dir, 'critic', 'huggingface'))
    expect(saved.config).toMatchObject({ architecture: 'Qwen3ForTokenClassification', labels: 1 })
    await saved.close()
    const again = await engine.openScore({ path: join(dir, 'critic', 'huggingface'), head: 'value' }, call())
    const [own, theirs] = await Promise.all(
      [again, critic].map((model) => model.forward({ rows, tokenBudget: 50 }, { scores: ['value'] }, call())),
    )
    expect(own).toEqual(theirs)
    await expect(critic.forward({ rows, tokenBudget: 9 }, { scores: ['logprob'] }, call())).rejects.toMatchObject({
      code: 'engine/no-score',
    })
  })

  it('rewards sequences by their last token, whatever is packed beside them', async () => {
    const classifier = join(dir, 'reward')
    await createModel({ out: classifier, head: 'sequence', hidden: 32, layers: 1, seed: 3 })
    const model = await engine.openReward({ path: classifier }, call())
    const rows = someRows(4).map((row) => row.tokens)
    const all = await model.reward(rows, call())
    for (const [i, row] of rows.entries()) expect((await model.reward([row], call()))[0]).toBe(all[i])
    await expect(model.reward([new Int32Array(0)], call())).rejects.toMatchObject({ code: 'engine/bad-row' })
    await expect(engine.openReward({ path }, call())).rejects.toMatchObject({ code: 'model/missing-tensor' })
  })

  it('without ever blocking the event loop, and stops when told', async () => {
    const big = join(dir, 'big')
    await createModel({ out: big, hidden: 256, layers: 4, heads: 4, seed: 3 })
    const model = await engine.openTrain({ path: big }, call())
    const rows = someRows(1).map((row) => long(row, 500))
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    const started = performance.now()
    await model.forwardBackward({ rows, tokenBudget: 4000 }, loss, call())
    const took = performance.now() - started
    clearInterval(timer)
    // A blocked loop would give one tick; a busy machine may lose many of them.
    expect(ticks).toBeGreaterThan(Math.min(5, took / 20))

    const run = async (signal: AbortSignal, watched = loss) =>
      model.forwardBackward(
        { rows: [...rows, ...rows.map((row) => long(row, 500, 4))], tokenBudget: 500 },
        watched,
        call(signal),
      )
    const early = new AbortController()
    const stopped = run(early.signal)
    setTimeout(() => early.abort(new Error('enough')), 5)
    await expect(stopped).rejects.toThrow('enough')
    const scored = model.forward({ rows, tokenBudget: 99 }, { scores: ['logprob'] }, call(undefined, 1))
    await expect(scored).rejects.toMatchObject({ code: 'engine/deadline' })

    // Stopped after the first of two micro-batches, on top of a gradient that was whole: nobody may apply that sum.
    const late = new AbortController()
    let evaluated = 0
    const watched = {
      ...loss,
      get graph() {
        // Looked at once before the first micro-batch, then for each.
        if (++evaluated === 3) late.abort(new Error('half-way'))
        return loss.graph
      },
    }
    await expect(run(late.signal, watched)).rejects.toThrow('half-way')
    await expect(model.optimStep(step, call())).rejects.toMatchObject({ code: 'engine/incomplete-gradient' })
    await model.discardGrad(call())
    expect((await model.optimStep(step, call())).gradNorm).toBe(0)
    await model.close()
  })

  it('counts its memory: 16 bytes per parameter and the activations', async () => {
    const model = await engine.openTrain({ path }, call())
    await learn(model)
    const { weights, gradients, optimizer, activations } = model.memory()
    const { parameters } = model.info
    expect(gradients).toBeGreaterThanOrEqual(4 * parameters)
    expect(optimizer).toBe(2 * gradients)
    expect(weights).toBeGreaterThanOrEqual(gradients)
    expect(activations).toBeGreaterThan(0)
    await model.close()
    await expect(logprobs(model)).rejects.toMatchObject({ code: 'engine/closed' })
  })

  it('refuses what it cannot do, and lives on', async () => {
    const model = await engine.openTrain({ path, maxModelLen: 12 }, call())
    const [good] = someRows(1)
    const score = (row: Partial<Row>) =>
      model.forward({ rows: [{ ...good, ...row }], tokenBudget: 64 }, { scores: ['logprob'] }, call())
    const bad = { code: 'engine/bad-row' }
    await expect(score({ tokens: Int32Array.of(1, 2, 9999, 4) })).rejects.toMatchObject(bad)
    await expect(score({ tokens: Int32Array.of(1, -2, 3, 4) })).rejects.toMatchObject(bad)
    await expect(score(long(good, 13))).rejects.toMatchObject(bad)
    await expect(score({ start: 0 })).rejects.toMatchObject(bad)
    await expect(score({ mask: new Uint8Array(2) })).rejects.toMatchObject(bad)
    await expect(score({ columns: { advantage: new Float32Array(1) } })).rejects.toMatchObject(bad)
    await expect(score({ temperature: 0 })).rejects.toMatchObject(bad)
    expect(await score(good)).toHaveLength(1)

    const spoilt = join(dir, 'spoilt')
    const spoil = async (change: (json: Record<string, unknown>) => object, value: number) => {
      await createModel({ out: spoilt, hidden: 16, layers: 1, heads: 2, seed: 3, force: true })
      const config = JSON.parse(await readFile(join(spoilt, 'config.json'), 'utf8'))
      await writeFile(join(spoilt, 'config.json'), JSON.stringify({ ...config, ...change(config) }))
      const file = join(spoilt, 'model.safetensors')
      const bytes = await readFile(file)
      bytes.writeFloatLE(value, bytes.length - 8)
      await writeFile(file, bytes)
      return engine.openTrain({ path: spoilt }, call())
    }
    const unchanged = () => ({})
    await expect(spoil(unchanged, Number.NaN)).rejects.toMatchObject({ code: 'model/non-finite' })
    const other = () => ({ architectures: ['GPT2LMHeadModel'] })
    await expect(spoil(other, 0)).rejects.toMatchObject({ code: 'model/architecture' })
    await expect(spoil(() => ({ hidden_size: 8, head_dim: 8 }), 0)).rejects.toMatchObject({ code: 'model/shape' })
    await expect(spoil(() => ({ num_hidden_layers: 2 }), 0)).rejects.toMatchObject({ code: 'model/missing-tensor' })
    await (await spoil(unchanged, 0)).close()

    const open = (change: object) => engine.openTrain({ path, ...change }, call())
    await expect(open({ path: join(dir, 'nowhere') })).rejects.toMatchObject({ code: 'model/missing' })
    await expect(open({ maxModelLen: 1e9 })).rejects.toMatchObject({ code: 'engine/max-model-len' })
    await expect(open({ head: 'reward' })).rejects.toMatchObject({ code: 'engine/unsupported' })
    const lora = { rank: 2, alpha: 1, targetModules: ['q_pro'] }
    await expect(open({ lora })).rejects.toMatchObject({ code: 'engine/lora', hint: expect.stringContaining('q_proj') })
    await expect(open({ lora: { ...lora, targetModules: 'all-linear', rank: 0 } })).rejects.toMatchObject({
      code: 'engine/lora',
    })
    await expect(model.load(join(dir, 'nowhere'), call())).rejects.toMatchObject({ code: 'engine/bad-checkpoint' })
    await expect(model.optimStep({ ...step, lr: Number.NaN }, call())).rejects.toMatchObject({
      code: 'engine/bad-step',
    })

    const before = await logprobs(model)
    await model.save(join(dir, 'broken'), call())
    const file = join(dir, 'broken', 'optimizer.safetensors')
    await writeFile(file, (await readFile(file)).subarray(0, 500))
    await expect(model.load(join(dir, 'broken'), call())).rejects.toMatchObject({ code: 'safetensors/invalid' })
    expect(await logprobs(model)).toEqual(before)
    await model.close()
  })
})

function long(row: Row, length: number, first = 3): Row {
  const tokens = Int32Array.from({ length }, (_, j) => (j * j + first) % 20)
  const mask = new Uint8Array(length - row.start).fill(1)
  return { ...row, tokens, mask, columns: { advantage: 1 } }
}
