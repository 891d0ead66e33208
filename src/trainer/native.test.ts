import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Ears, parts, rollout, stepConfig, tempDir } from '../../test/trainer/kit.js'
import type { Cut } from '../buffer/buffer.js'
import { Checkpoints } from '../checkpoint/index.js'
import { nextCall } from '../engine/calls.js'
import type { LoraSpec, TrainModel } from '../engine/contract.js'
import { NativeEngine } from '../engine/native/engine.js'
import type { Experience } from '../experience/index.js'
import { createModel } from '../model/create.js'
import { TrainStep } from './step.js'
import { Trainer } from './trainer.js'

const engine = new NativeEngine()
let dir: string
let path: string
beforeAll(async () => {
  dir = await tempDir()
  path = join(dir, 'tiny')
  const tokenizer = { kind: 'chars' as const, characters: '0123456789' }
  await createModel({
    out: path,
    layers: 2,
    hidden: 32,
    heads: 2,
    intermediate: 64,
    maxPositions: 64,
    seed: 5,
    tokenizer,
  })
})
afterAll(async () => {
  await engine.close()
  await rm(dir, { recursive: true })
})

const settings = {
  'buffer.train_batch_size': 4,
  'algorithm.optimizer.lr': 0.01,
  'trainer.grad_clip': 1,
  'trainer.trainer_config.actor_rollout_ref.actor.optim.override_optimizer_config.eps': 1e-8,
}
const lora: LoraSpec = { rank: 4, alpha: 8, targetModules: 'all-linear' }

const policy = (given?: LoraSpec) => engine.openTrain({ path, seed: 1, lora: given }, nextCall())

/** Rollouts with the log-probs that the model itself gives them. */
async function rollouts(count: number, scorer: TrainModel): Promise<Experience[]> {
  const made = Array.from({ length: count }, (_, i) => {
    const tokens = Array.from({ length: 5 + (i % 7) }, (_, j) => 1 + ((i * 7 + j * j * 3 + j) % 15))
    const temperature = i % 3 === 0 ? 0.8 : 1
    return rollout({
      tokens,
      temperature,
      reward: i % 3,
      eid: { batch: 0, task: i >> 1, run: i & 1, suffix: 'aaaaaa' },
    })
  })
  const rows = made.map((e, i) => ({
    id: String(i),
    tokens: e.tokens,
    start: e.promptLength,
    mask: e.actionMask,
    temperature: e.temperature,
    columns: {},
  }))
  const scores = await scorer.forward({ rows, tokenBudget: 100 }, { scores: ['logprob'] }, nextCall())
  return made.map((e, i) => ({
    ...e,
    logprobs: scores[i].logprob!,
    advantages: new Float32Array(e.actionMask.length).fill((i % 3) - 1),
  }))
}

async function weights(model: TrainModel, name: string): Promise<Buffer> {
  const out = join(dir, name)
  await model.saveWeights(out, nextCall())
  return readFile(join(out, 'model.safetensors'))
}

describe('training on the native engine', () => {
  it('sampler and trainer agree on log-probs', async () => {
    const model = await policy()
    const { metrics } = await new TrainStep({ policy: model }, { config: stepConfig('dapo', settings) }).run(
      await rollouts(8, model),
      1,
    )
    expect(metrics['mismatch/logprob_diff/max']).toBeLessThan(1e-5)
  })

  it('with LoRA the reference is the model without its adapter', async () => {
    const model = await policy(lora)
    const set = { ...settings, 'model.lora_configs': [{ lora_rank: 4, lora_alpha: 8 }] }
    const step = new TrainStep({ policy: model }, { config: stepConfig('grpo', set) })
    const batch = await rollouts(4, model)
    expect((await step.run(batch, 1)).metrics['actor/kl_loss']).toBeCloseTo(0, 9)
    for (const i of [2, 3, 4]) await step.run(batch, i)
    expect((await step.run(batch, 5)).metrics['actor/kl_loss']).toBeGreaterThan(1e-4)
  })

  it('micro-batches do not change the update', async () => {
    const after = await Promise.all(
      [1, 17, 1000].map(async (budget) => {
        const model = await policy()
        const config = stepConfig('dapo', { ...settings, 'trainer.max_token_len_per_gpu': budget })
        const { metrics } = await new TrainStep({ policy: model }, { config }).run(await rollouts(8, model), 1)
        return { loss: metrics['actor/loss'], norm: metrics['actor/grad_norm'] }
      }),
    )
    for (const { loss, norm } of after) {
      expect(loss).toBeCloseTo(after[0].loss, 6)
      expect(norm).toBeCloseTo(after[0].norm, 5)
    }
  })

  const cases: [string, LoraSpec | undefined][] = [
    ['all weights', undefined],
    ['an adapter', lora],
  ]
  it.each(cases)('resumes %s bit by bit, with a critic', async (name, adapter) => {
    const set = {
      ...settings,
      'trainer.save_interval': 2,
      'trainer.trainer_config.critic.optim.lr': 0.01,
      ...(adapter ? { 'model.lora_configs': [{ lora_rank: 4, lora_alpha: 8 }] } : {}),
    }
    const config = stepConfig('ppo', set)
    const data = await rollouts(20, await policy())

    async function process(job: string, ears: Ears, until: number) {
      const model = await policy(adapter)
      const critic = await engine.openTrain({ path, head: 'value', seed: 2 }, nextCall())
      const reference = adapter ? undefined : await engine.openScore({ path }, nextCall())
      const checkpoints = await Checkpoints.open({ dir: job, roles: ['trainer'] })
      const dead = new AbortController()
      const given = await parts(config, { policy: model, critic, reference }, data, {
        ears,
        checkpoints,
        snapshot: async () => ({ state: { buffer: await given.buffer.cut() } }),
        sync: { whileWaiting: async () => {}, afterStep: async (step) => void (step === until && dead.abort()) },
      })
      const trainer = new Trainer(given)
      const saved = await checkpoints.latest()
      if (saved) {
        await given.buffer.restore(saved.state.buffer as Cut)
        await trainer.resume(saved)
      }
      await trainer.run(dead.signal).catch(() => {})
      await checkpoints.close()
      const bytes = await weights(model, `out-${name}`)
      for (const open of [model, critic, reference]) await open?.close()
      return bytes
    }

    const [whole, last] = [new Ears(), new Ears()]
    const expected = await process(join(dir, `${name} whole`), whole, -1)
    const job = join(dir, `${name} cut`)
    await process(job, new Ears(), 3)
    const resumed = await process(job, last, -1)
    expect(resumed.equals(expected)).toBe(true)
    for (const step of [3, 4, 5]) expect(last.of(step)).toEqual(whole.of(step))
    for (const part of ['actor', 'critic']) {
      const files = await readdir(join(job, 'global_step_5', part), { recursive: true })
      expect(files).toContain('optimizer.safetensors')
      expect(files).toContain('huggingface/model.safetensors')
      for (const file of files.filter((one) => one.endsWith('.safetensors'))) {
        const [a, b] = [job, join(dir, `${name} whole`)].map((one) => readFile(join(one, 'global_step_5', part, file)))
        expect((await a).equals(await b), `${part}/${file}`).toBe(true)
      }
    }
  })
})
