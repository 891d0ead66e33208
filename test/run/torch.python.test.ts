import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openEngine } from '../../src/engine/registry.js'
import { Stop } from '../../src/run/index.js'
import { torchTestPython } from '../support/python.js'
import { trinity } from './cli-kit.js'
import { Bench, Recorder } from './kit.js'

const python = torchTestPython()

const text = `
project: p
name: job
checkpoint_root_dir: DIR
mode: train
algorithm: {algorithm_type: sft, optimizer: {lr: 0.01}}
model: {model_path: DIR/model, max_model_len: 48}
buffer:
  train_batch_size: 4
  total_epochs: 2
  trainer_input: {experience_buffer: {path: DIR/sft.jsonl, format: {prompt_type: plaintext, prompt_key: q, response_key: a}}}
trainer: {trainer_type: torch, save_interval: 2}
monitor: {monitor_type: jsonl}
`

describe.skipIf(python.absent)(`on torch${python.note}`, () => {
  let bench: Bench
  beforeAll(async () => {
    vi.stubEnv('TRINITY_PYTHON', python.path)
    // the same numbers on every machine
    vi.stubEnv('CUDA_VISIBLE_DEVICES', '')
    bench = await Bench.make()
  })
  afterAll(() => {
    vi.unstubAllEnvs()
    bench.remove()
  })

  describe('a training job', () => {
    beforeAll(() => {
      const rows = Array.from({ length: 16 }, (_, i) => `${JSON.stringify({ q: `${i}+${i}=`, a: `${2 * i}` })}\n`)
      writeFileSync(join(bench.dir, 'sft.jsonl'), rows.join(''))
    })
    const losses = (name: string) => bench.metrics('trainer', name).map((one) => [one.step, one['actor/loss']])

    it('learns, writes its log and checkpoints, and resumes exactly', async () => {
      const { steps } = await bench.run({ name: 'whole' }, { text, openEngine })
      expect(steps).toBe(8)
      const whole = losses('whole')
      expect(whole.at(-1)![1]).toBeLessThan(whole[0][1])
      const saved = bench.job('whole', 'global_step_8', 'actor')
      expect(existsSync(join(saved, 'huggingface', 'model.safetensors')), readdirSync(saved).join()).toBe(true)
      expect(readdirSync(saved)).toContain('model_world_size_1_rank_0.pt')
      expect(readFileSync(bench.job('whole', 'log', 'torch_0.log'), 'utf8')).toMatch(/rank 0 of 1 on cpu: python 3/)

      const stop = new Stop()
      const view = new Recorder()
      view.onMetrics = (_, step) => {
        if (step === 3) stop.request()
      }
      expect(await bench.run({ name: 'parts' }, { text, openEngine, stop, view })).toMatchObject({
        end: 'stopped',
        steps: 3,
      })
      expect(await bench.run({ name: 'parts' }, { text, openEngine })).toMatchObject({ end: 'finished', steps: 8 })
      expect(losses('parts')).toEqual(whole)
    }, 240_000)

    it('runs from the command line on two workers, to the same losses', async () => {
      const file = join(bench.dir, 'two.yaml')
      writeFileSync(file, text.replaceAll('DIR', bench.dir).replace('name: job', 'name: two'))
      const set = ['--set', 'cluster.node_num=1', '--set', 'cluster.gpu_per_node=2']
      const { code, stderr } = await trinity(bench.dir, ['run', '-c', file, ...set])
      expect(code, stderr).toBe(0)
      const one = losses('whole')
      for (const [i, [step, loss]] of losses('two').entries()) {
        expect([step, loss]).toEqual([one[i][0], expect.closeTo(one[i][1], 4)])
      }
      expect(readdirSync(bench.job('two', 'global_step_8', 'actor'))).toContain('model_world_size_2_rank_1.pt')
    }, 240_000)
  })

  describe('rollouts and training', () => {
    const TORCH = { 'trainer.trainer_type': 'torch', 'explorer.rollout_model.engine_type': 'torch' }
    /** One worker trains, another one samples, and weights go from process to process. */
    const APART = { 'cluster.node_num': 1, 'cluster.gpu_per_node': 2, 'synchronizer.sync_method': 'nccl' }

    const NO_EVALUATION = { 'buffer.explorer_input.eval_tasksets': [] }

    it.each([
      ['one worker for both', { mode: 'colocate' }, 1e-4],
      ['ahead', { ...APART, 'synchronizer.sync_offset': 1 }, Number.POSITIVE_INFINITY],
      ['explorer_driven', { ...APART, 'synchronizer.sync_style': 'explorer_driven' }, Number.POSITIVE_INFINITY],
      ['fully_async', { ...APART, 'synchronizer.sync_style': 'fully_async' }, Number.POSITIVE_INFINITY],
    ])(
      '%s',
      async (name, keys, agree) => {
        const { end } = await bench.run(
          { name, ...TORCH, ...keys, 'buffer.total_steps': 3, ...NO_EVALUATION },
          { openEngine },
        )
        expect(end).toBe('finished')
        const trainer = bench.metrics('trainer', name).filter(({ step }) => step > 0)
        expect(trainer.map(({ step }) => step)).toEqual([1, 2, 3])
        for (const metrics of trainer) {
          expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
          expect(metrics['mismatch/logprob_diff/max']).toBeLessThan(agree)
        }
        expect(readFileSync(bench.job(name, 'log', 'synchronizer.log'), 'utf8')).toMatch(/weights of training step \d/)
      },
      120_000,
    )
  })

  describe('two engines in one run', () => {
    it.each([
      ['torch', 'native'],
      ['native', 'torch'],
    ])(
      'trains on %s and samples on %s, by checkpoint',
      async (train, sample) => {
        const name = `${train}_${sample}`
        const engines = { 'trainer.trainer_type': train, 'explorer.rollout_model.engine_type': sample }
        const keys = { name, ...engines, 'buffer.total_steps': 4, 'trainer.save_interval': 2 }
        expect(await bench.run(keys, { openEngine })).toMatchObject({ end: 'finished', steps: 4 })
        const trainer = bench.metrics('trainer', name).filter(({ step }) => step > 0)
        expect(trainer.map(({ step }) => step)).toEqual([1, 2, 3, 4])
        // a step whose answers all earn the same has no gradient
        expect(Math.max(...trainer.map((metrics) => metrics['actor/grad_norm']))).toBeGreaterThan(0)
        for (const metrics of trainer) {
          // the samplers have the weights that the trainer has: both engines say the same of each token
          expect(metrics['mismatch/logprob_diff/max']).toBeLessThan(1e-4)
        }
        const log = readFileSync(bench.job(name, 'log', 'synchronizer.log'), 'utf8')
        expect(log.match(/weights of training step \d to the samplers by checkpoint/g)).toHaveLength(4)
      },
      180_000,
    )
  })
})
