import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nextCall } from '../../src/engine/calls.js'
import type { LoraSpec, ModelSpec, TrainModel } from '../../src/engine/contract.js'
import { NativeEngine } from '../../src/engine/native/engine.js'
import { TorchEngine } from '../../src/engine/torch/engine.js'
import type { Experience } from '../../src/experience/index.js'
import { TrainStep } from '../../src/trainer/step.js'
import { torchTestPython } from '../support/python.js'
import { fixture } from '../support/test-data.js'
import { rollout, stepConfig, tempDir } from '../trainer/kit.js'
import { recorded, type TapeEntry } from './tape.js'

const python = torchTestPython()

/** Training steps are made on the native engine and written down; torch is then asked the same, call by call. */
describe.skipIf(python.absent)(`recorded batches, native and torch in float32${python.note}`, () => {
  const native = new NativeEngine()
  const torch = new TorchEngine({ python: python.path, device: 'cpu' })
  const path = fixture('tiny-qwen2')
  const lora: LoraSpec = { rank: 4, alpha: 8, targetModules: 'all-linear' }
  let dir: string
  let seen = 0

  beforeAll(async () => {
    dir = await tempDir()
    // what engines initialize by themselves is not the same in both: it is made once and given to both
    const start = async (spec: ModelSpec, name: string) => {
      const model = await native.openTrain(spec, nextCall())
      await model.save(join(dir, name), nextCall())
      await model.close()
    }
    await start({ path, head: 'value', seed: 3 }, 'critic')
    await start({ path, lora, seed: 3 }, 'adapter')
  }, 60_000)
  afterAll(async () => {
    await Promise.all([native.close(), torch.close()])
    await rm(dir, { recursive: true })
  })

  const settings = {
    'algorithm.optimizer.lr': 0.003,
    'algorithm.optimizer.weight_decay': 0.01,
    'trainer.grad_clip': 1,
    // several micro-batches, and a different number of them than rows
    'trainer.max_token_len_per_gpu': 24,
    'trainer.trainer_config.actor_rollout_ref.actor.optim.override_optimizer_config.eps': 1e-8,
    'trainer.trainer_config.critic.optim.lr': 0.003,
  }

  async function rollouts(count: number, scorer: TrainModel): Promise<Experience[]> {
    const made = Array.from({ length: count }, (_, i) => {
      const tokens = Array.from({ length: 5 + ((i * 5) % 9) }, (_, j) => 1 + ((i * 7 + j * j * 3 + j) % 19))
      const actionMask = Uint8Array.from({ length: tokens.length - 2 }, (_, j) => ((i + j) % 5 === 3 ? 0 : 1))
      const eid = { batch: 0, task: i >> 2, run: i & 3, suffix: 'aaaaaa' }
      return rollout({ tokens, temperature: i % 3 === 0 ? 0.8 : 1, reward: (i * 7) % 3, actionMask, eid })
    })
    const rows = made.map((e, i) => {
      const { tokens, promptLength: start, actionMask: mask, temperature } = e
      return { id: String(i), tokens, start, mask, temperature, columns: {} }
    })
    const scores = await scorer.forward({ rows, tokenBudget: 100 }, { scores: ['logprob'] }, nextCall())
    return made.map((e, i) => ({
      ...e,
      // a little off, so that ratios are not all one
      logprobs: scores[i].logprob!.map((x, j) => x + 0.1 * Math.sin(i + j)),
      advantages: Float32Array.from(e.actionMask, (_, j) => Math.cos(i * 3 + j)),
    }))
  }

  async function replay(spec: ModelSpec, tape: readonly TapeEntry[]): Promise<void> {
    const model = await torch.openTrain(spec, nextCall())
    for (const entry of tape) {
      if (entry.kind === 'learn') {
        const { loss, metrics, scores } = await model.forwardBackward(entry.batch, entry.loss, nextCall())
        expect(Math.abs(loss - entry.result.loss)).toBeLessThanOrEqual(1e-4 * Math.max(1, Math.abs(entry.result.loss)))
        expect(Object.keys(metrics).sort()).toEqual(Object.keys(entry.result.metrics).sort())
        for (const [name, metric] of Object.entries(entry.result.metrics)) {
          // a sum of sums weighs as many micro-batches as there were
          if (metric.reduce === 'mean') expect(metrics[name].weight).toBeCloseTo(metric.weight, 4)
          expect([name, metrics[name].value]).toEqual([name, expect.closeTo(metric.value, 3)])
        }
        for (const [i, theirs] of entry.result.scores.entries()) {
          for (const kind of entry.loss.wants) {
            const far = scores[i][kind]!.reduce((most, x, j) => Math.max(most, Math.abs(x - theirs[kind]![j])), 0)
            expect(far).toBeLessThan(1e-3)
          }
        }
        seen++
      } else {
        const { gradNorm, applied } = await model.optimStep(entry.step, nextCall())
        expect(applied).toBe(true)
        expect(Math.abs(gradNorm - entry.gradNorm)).toBeLessThanOrEqual(1e-3 * entry.gradNorm)
      }
    }
    await model.close()
  }

  const cases: [name: string, algorithm: string, adapter: boolean, steps: number, set: Record<string, unknown>][] = [
    ['GRPO', 'grpo', false, 5, {}],
    ['GRPO on an adapter', 'grpo', true, 4, { 'model.lora_configs': [{ lora_rank: 4, lora_alpha: 8 }] }],
    ['PPO with a critic', 'ppo', false, 5, {}],
    ['GSPO, coupled by sequences', 'gspo', false, 4, { 'algorithm.policy_loss_fn': 'gspo' }],
  ]
  it.each(cases)(
    '%s',
    async (_, algorithm, adapter, steps, set) => {
      const spec: ModelSpec = adapter
        ? { path, lora: { ...lora, path: join(dir, 'adapter', 'lora_adapter') } }
        : { path }
      const criticSpec: ModelSpec = { path: join(dir, 'critic', 'huggingface'), head: 'value' }
      const own = await native.openTrain(spec, nextCall())
      const reference = adapter ? undefined : await native.openScore({ path }, nextCall())
      const ownCritic = algorithm === 'ppo' ? await native.openTrain(criticSpec, nextCall()) : undefined
      const [tape, criticTape]: TapeEntry[][] = [[], []]
      const models = {
        policy: recorded(own, tape),
        reference,
        critic: ownCritic && recorded(ownCritic, criticTape),
      }
      const step = new TrainStep(models, { config: stepConfig(algorithm, { ...settings, ...set }) })
      for (let i = 1; i <= steps; i++) await step.run(await rollouts(12, own), i)
      await replay(spec, tape)
      if (ownCritic) await replay(criticSpec, criticTape)
      await Promise.all([own.close(), reference?.close(), ownCritic?.close()])
    },
    300_000,
  )

  it('were at least twenty', () => expect(seen).toBeGreaterThanOrEqual(20))
})
