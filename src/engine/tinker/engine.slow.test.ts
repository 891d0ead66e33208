import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildLoss } from '../../algorithm/loss.js'
import { SafetensorsFile } from '../../model/safetensors.js'
import { nextCall } from '../calls.js'
import type { AdamStep, Row, RowScores } from '../contract.js'
import { NativeEngine } from '../native/engine.js'
import { fetchAdapter } from './archive.js'
import { TinkerEngine } from './engine.js'
import { readWeights } from './saved.js'
import { startTinkerServer, type TinkerServer, tinkerTestPython } from './server.fixture.js'
import type { TinkerTrainModel } from './train.js'

const python = tinkerTestPython()
const RANK = 4
const STEP: AdamStep = { lr: 1e-3, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0.01, gradClip: 0 }
const WANT = { scores: ['logprob'] } as const

describe.skipIf(python.absent)(`SkyRL's Tinker server${python.note}`, { timeout: 900_000 }, () => {
  let server: TinkerServer
  let engine: TinkerEngine
  let model: TinkerTrainModel
  let dir: string
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'trinity-tinker-'))
    server = await startTinkerServer(python.path)
    const adapter = { baseModel: server.model, rank: RANK, seed: 3, mlp: true, attention: true, unembed: false }
    engine = new TinkerEngine({ baseUrl: server.url, adapter })
    model = (await engine.openTrain({ path: server.model }, nextCall())) as TinkerTrainModel
  }, 900_000)
  afterAll(async () => {
    await engine?.close()
    await server?.close()
    await rm(dir, { recursive: true, force: true })
  })

  /** The adapter as it is now, as a folder of PEFT. */
  async function adapterNow(name: string): Promise<string> {
    const to = join(dir, name)
    await model.saveWeights(to, nextCall())
    const files = await fetchAdapter(model.place.session, (await readWeights(to))!.path, AbortSignal.timeout(60_000))
    for (const [file, data] of files!) await writeFile(join(to, file), data)
    return to
  }

  it('learns what the native engine learns from the same adapter and batch', async () => {
    const path = await adapterNow('first')
    const lora = { rank: RANK, alpha: 32, targetModules: 'all-linear', path } as const
    const native = await new NativeEngine().openTrain({ path: server.model, lora }, nextCall())
    const batch = { rows: someRows(), tokenBudget: 4096 }
    for (let step = 0; step < 2; step++) {
      const there = await model.forwardBackward(batch, loss, nextCall())
      const here = await native.forwardBackward(batch, loss, nextCall())
      expect(Math.abs(there.loss - here.loss)).toBeLessThan(1e-5)
      expect(furthest(there.scores, here.scores)).toBeLessThan(1e-4)
      const [a, b] = [await model.optimStep(STEP, nextCall()), await native.optimStep(STEP, nextCall())]
      expect(a.gradNorm / b.gradNorm).toBeCloseTo(1, 4)
    }
    await native.save(join(dir, 'native'), nextCall())
    const there = await SafetensorsFile.open(join(await adapterNow('after'), 'adapter_model.safetensors'))
    const here = await SafetensorsFile.open(join(dir, 'native', 'lora_adapter', 'adapter_model.safetensors'))
    let most = 0
    for (const name of here.tensors.keys()) {
      const [x, y] = [await there.readFloat32(name), await here.readFloat32(name)]
      for (let i = 0; i < x.length; i++) most = Math.max(most, Math.abs(x[i] - y[i]))
    }
    await Promise.all([there.close(), here.close()])
    // two steps move a weight by 2e-3
    expect(most).toBeLessThan(1e-4)
    const base = { ...WANT, adapter: 'off' } as const
    const [p, q] = [await model.forward(batch, base, nextCall()), await native.forward(batch, base, nextCall())]
    expect(furthest(p, q)).toBeLessThan(1e-4)
  })

  it('samples with the log-probs that it trains with', async () => {
    const sampler = await engine.openSample({ path: server.model, shareWith: model }, nextCall())
    const prompt = Int32Array.of(5, 8, 9, 30)
    const params = { temperature: 1, maxTokens: 12, seed: 5 }
    const samples = await sampler.sample({ prompt, n: 4, params, promptLogprobs: true }, nextCall())
    const rows = samples.map(({ tokens }, i): Row => {
      const whole = Int32Array.from([...prompt, ...tokens])
      const mask = new Uint8Array(tokens.length).fill(1)
      return { id: `${i}`, tokens: whole, start: 4, mask, temperature: 1, columns: {} }
    })
    const scores = await model.forward({ rows, tokenBudget: 64 }, WANT, nextCall())
    const sampled = samples.map(({ logprobs }, i) => ({ id: `${i}`, logprob: logprobs }))
    expect(furthest(sampled, scores)).toBeLessThan(1e-4)
    expect(furthest(await sampler.score(rows, nextCall()), scores)).toBeLessThan(1e-4)
    await sampler.close()
  })

  it('resumes from a state that it keeps', async () => {
    const batch = { rows: someRows(), tokenBudget: 4096 }
    await model.save(join(dir, 'state'), nextCall())
    const learn = async () => {
      await model.forwardBackward(batch, loss, nextCall())
      await model.optimStep(STEP, nextCall())
      return model.forward(batch, WANT, nextCall())
    }
    const first = await learn()
    await model.load(join(dir, 'state'), nextCall())
    expect(furthest(await learn(), first)).toBeLessThan(1e-6)
  })
})

const loss = buildLoss({
  policy_loss_fn: 'ppo',
  policy_loss_fn_args: { clip_range: 0.2 },
  kl_loss_fn: 'k2',
  kl_loss_fn_args: { kl_coef: 0.01 },
  entropy_loss_fn: 'default',
})

function someRows(): Row[] {
  return Array.from({ length: 8 }, (_, i) => {
    const tokens = Int32Array.from({ length: 6 + i }, (_, j) => (i * 7 + j * j + 3) % 100)
    const start = 1 + (i % 3)
    const mask = Uint8Array.from({ length: tokens.length - start }, (_, j) => (j % 4 === 2 ? 0 : 1))
    const column = (f: (j: number) => number) => Float32Array.from(mask, (_, j) => f(j))
    const columns = {
      advantage: column((j) => Math.sin(i + j)),
      old: column((j) => -5.5 + 0.1 * Math.cos(j)),
      ref: column((j) => -5.5 + 0.1 * Math.sin(j)),
    }
    return { id: `${i}`, tokens, start, mask, temperature: 1, columns }
  })
}

function furthest(a: readonly RowScores[], b: readonly RowScores[]): number {
  return Math.max(...a.flatMap(({ logprob }, i) => Array.from(logprob!, (x, j) => Math.abs(x - b[i].logprob![j]))))
}
