import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Ears, model, parts, rollout, stepConfig, tempDir, withSamplerLogprobs } from '../../test/trainer/kit.js'
import type { Cut } from '../buffer/buffer.js'
import { openBuffer } from '../buffer/index.js'
import { Checkpoints } from '../checkpoint/index.js'
import type { Experience } from '../experience/index.js'
import type { TrainerParts } from './parts.js'
import { Trainer } from './trainer.js'

const never = () => new AbortController().signal
const small = { 'buffer.train_batch_size': 4, 'algorithm.kl_loss_fn': 'none' }

/** Rollouts of tasks with several runs; rewards and tokens follow from their numbers. */
async function rollouts(tasks: number): Promise<Experience[]> {
  const sampler = await model(1)
  return Array.from({ length: tasks * 2 }, (_, i) => {
    const tokens = [i % 6, (i * 5) % 6, (i * 7 + 1) % 6, (i * 11 + 2) % 6, (i + 3) % 6].slice(0, 3 + (i % 3))
    const made = rollout({ tokens, reward: (i * 3) % 4, eid: { batch: 0, task: i >> 1, run: i & 1, suffix: 'aaaaaa' } })
    const advantages = new Float32Array(made.actionMask.length).fill(((i * 3) % 4) - 1.5)
    return { ...withSamplerLogprobs(sampler, made, 0.05), advantages, promptText: `p${i}`, responseText: `r${i}` }
  })
}

describe('the loop', () => {
  it('trains batch by batch until the data ends, the rest included, and saves', async () => {
    const [dir, ears] = [await tempDir(), new Ears()]
    const config = stepConfig('grpo', { ...small, 'trainer.save_interval': 2, 'trainer.enable_preview': true })
    const trainer = new Trainer(await parts(config, { policy: await model(1) }, await rollouts(9), { ears, dir }))
    expect(await trainer.run(never())).toBe('end_of_data')
    expect(trainer.step).toBe(5)
    expect(ears.of(1)).toMatchObject({ 'sample/experience_count': 4, 'sample/task_count': 2, 'actor/updates': 1 })
    expect(ears.of(5)).toMatchObject({ 'sample/experience_count': 2 })
    const steps = (await readdir(dir)).filter((name) => name.startsWith('global_step')).sort()
    expect(steps).toEqual(['global_step_2', 'global_step_4', 'global_step_5'])
    expect(JSON.parse(await readFile(join(dir, 'trainer_meta.json'), 'utf8'))).toMatchObject({ latest_iteration: 5 })
    expect(ears.tables.map(({ step, rows }) => [step, rows.length])).toEqual([1, 2, 3, 4, 5].map((step) => [step, 2]))
    expect(ears.tables[0].rows[0]).toEqual({ step: 1, prompt: 'p0', response: 'r0', reward: 0 })
    const saved = ears.logged.filter(({ metrics }) => 'time/save_checkpoint' in metrics).map(({ step }) => step)
    expect(saved).toEqual([2, 4, 5])
  })

  it('accounts for the time of a step', async () => {
    const ears = new Ears()
    const sync = { whileWaiting: async () => {}, afterStep: () => sleep(30) as Promise<void> }
    const config = stepConfig('grpo', { ...small, 'algorithm.bypass_old_logprobs': false })
    await new Trainer(await parts(config, { policy: await model(1) }, await rollouts(2), { ears, sync })).run(never())
    const { metrics } = ears.logged[0]
    const known = ['read_experience', 'old_log_prob', 'adv', 'update_actor', 'sync_weight', 'other']
    const sum = known.reduce((total, name) => total + metrics[`time/${name}`], 0)
    expect(sum).toBeCloseTo(metrics['time/step'], 6)
    expect(metrics['time/sync_weight']).toBeGreaterThan(0.02)
  })

  it('ends at total_steps; the same command again says that nothing is left', async () => {
    const dir = await tempDir()
    const config = stepConfig('grpo', { ...small, 'trainer.total_steps': 2 })
    const first = await parts(config, { policy: await model(1) }, await rollouts(9), { dir })
    expect(await new Trainer(first).run(never())).toBe('total_steps')
    await first.checkpoints.close()
    const ears = new Ears()
    const second = await parts(config, { policy: await model(1) }, await rollouts(9), { dir, ears })
    const again = new Trainer(second)
    await again.resume((await second.checkpoints.latest())!)
    expect(await again.run(never())).toBe('total_steps')
    expect(ears.notes).toEqual([expect.stringContaining('nothing to train: step 2 of trainer.total_steps 2')])
  })

  it('says that no data came, and saves nothing', async () => {
    const [dir, ears] = [await tempDir(), new Ears()]
    const trainer = new Trainer(await parts(stepConfig('grpo', small), { policy: await model(1) }, [], { dir, ears }))
    expect(await trainer.run(never())).toBe('end_of_data')
    expect(ears.notes).toEqual([expect.stringContaining('nothing was trained')])
    expect(await readdir(dir)).toEqual(['.lock-trainer'])
  })

  it('a step without anything to learn from still counts', async () => {
    const ears = new Ears()
    const failed = (await rollouts(2)).map((e): Experience => ({ ...e, failure: { reason: 'timeout', message: '' } }))
    const all = [...failed, ...(await rollouts(4)).slice(4)]
    const trainer = new Trainer(await parts(stepConfig('grpo', small), { policy: await model(1) }, all, { ears }))
    await trainer.run(never())
    expect(trainer.step).toBe(2)
    expect(ears.of(1)).toMatchObject({ 'sample/skipped/failed': 4 })
    expect(ears.notes[0]).toContain('nothing to train on')
  })

  it('a run in which no step had anything to learn from fails, says why, and saves nothing', async () => {
    const dir = await tempDir()
    const failed = (await rollouts(2)).map((e): Experience => ({ ...e, failure: { reason: 'timeout', message: '' } }))
    const trainer = new Trainer(await parts(stepConfig('grpo', small), { policy: await model(1) }, failed, { dir }))
    await expect(trainer.run(never())).rejects.toMatchObject({
      code: 'trainer/nothing-usable',
      message: expect.stringContaining('(4 failed)'),
    })
    expect(await readdir(dir)).toEqual(['.lock-trainer'])
  })
})

it('gives up when gradients stay infinite', async () => {
  const broken = (await rollouts(30)).map((e) => ({ ...e, advantages: e.advantages!.map(() => Infinity) }))
  const ears = new Ears()
  const trainer = new Trainer(await parts(stepConfig('grpo', small), { policy: await model(1) }, broken, { ears }))
  await expect(trainer.run(never())).rejects.toThrowError(expect.objectContaining({ code: 'trainer/no-update' }))
  expect(trainer.step).toBe(10)
  expect(ears.notes.length).toBe(10)
})

describe('synchronization', () => {
  it('comes after the step and before its checkpoint', async () => {
    const order: string[] = []
    const sync = { whileWaiting: async () => {}, afterStep: async (step: number) => void order.push(`sync ${step}`) }
    const snapshot = async (step: number) => {
      order.push(`save ${step}`)
      return { state: { synchronizer: { version: step } } }
    }
    const config = stepConfig('grpo', { ...small, 'trainer.save_interval': 1 })
    const given = await parts(config, { policy: await model(1) }, await rollouts(4), { sync, snapshot })
    await new Trainer(given).run(never())
    expect(order.slice(0, 4)).toEqual(['sync 1', 'save 1', 'sync 2', 'save 2'])
    expect((await given.checkpoints.latest())?.state).toMatchObject({
      synchronizer: { version: 2 },
      trainer: { step: 2 },
    })
  })

  async function waitingTrainer(sync: TrainerParts['sync'], dir?: string) {
    const buffer = await openBuffer({ name: 'b', storage_type: 'queue', max_read_timeout: 20 })
    const given = await parts(stepConfig('grpo', small), { policy: await model(1) }, [], { buffer, sync, dir })
    return { buffer, given, trainer: new Trainer(given) }
  }

  it('may move weights while the trainer waits, and is waited for', async () => {
    let ended = 0
    const { buffer, trainer } = await waitingTrainer({
      async whileWaiting(arrived) {
        if (!arrived.aborted) await new Promise((resolve) => arrived.addEventListener('abort', resolve, { once: true }))
        await sleep(30)
        ended++
      },
      async afterStep() {
        expect(ended).toBe(1)
      },
    })
    const running = trainer.run(never())
    await sleep(20)
    await buffer.put(await rollouts(2))
    await buffer.finish()
    expect(await running).toBe('end_of_data')
    expect(ended).toBe(2)
  })

  it('a failing transfer fails the run instead of leaving it waiting', async () => {
    const { trainer } = await waitingTrainer({
      whileWaiting: () => sleep(10).then(() => Promise.reject(new Error('link is down'))),
      afterStep: async () => {},
    })
    await expect(trainer.run(never())).rejects.toThrow('link is down')
  })

  it('stop while waiting: what is done is saved', async () => {
    const dir = await tempDir()
    const { buffer, trainer } = await waitingTrainer(undefined, dir)
    await buffer.put(await rollouts(2))
    const stop = new AbortController()
    const running = trainer.run(never(), stop.signal)
    await expect.poll(() => trainer.step).toBe(1)
    stop.abort()
    expect(await running).toBe('stopped')
    expect(await readdir(dir)).toContain('global_step_1')
  })

  it('stop in the middle of a step finishes it; abort stops at once and saves nothing', async () => {
    for (const [how, expected] of [
      ['stop', ['global_step_1']],
      ['abort', []],
    ] as const) {
      const dir = await tempDir()
      const [stop, abort] = [new AbortController(), new AbortController()]
      const sync = {
        whileWaiting: async () => {},
        afterStep: async () => (how === 'stop' ? stop : abort).abort(new Error('ctrl-c')),
      }
      const given = await parts(stepConfig('grpo', small), { policy: await model(1) }, await rollouts(9), { dir, sync })
      const running = new Trainer(given).run(abort.signal, stop.signal)
      if (how === 'stop') expect(await running).toBe('stopped')
      else await expect(running).rejects.toThrow('ctrl-c')
      expect((await readdir(dir)).filter((name) => name.startsWith('global_step'))).toEqual(expected)
    }
  })
})

describe('resume', () => {
  const cases: [string, Record<string, unknown>, ('reference' | 'critic' | 'experts')[]][] = [
    [
      'grpo',
      { 'algorithm.kl_loss_fn_args': { adaptive: true, kl_coef: 0.1, target_kl: 0.01, horizon: 50 } },
      ['reference'],
    ],
    [
      'ppo',
      {
        'algorithm.kl_penalty_fn': 'k2',
        'algorithm.kl_penalty_fn_args': { adaptive: true, kl_coef: 0.1, target_kl: 0.01, horizon: 50 },
        'algorithm.optimizer.lr_scheduler_type': 'cosine',
        'trainer.total_steps': 5,
        'trainer.trainer_config.critic.ppo_epochs': 2,
      },
      ['reference', 'critic'],
    ],
    ['mix', { 'algorithm.sample_strategy_args': { expert_data_ratio: 0.25 } }, ['reference', 'experts']],
  ]

  it.each(cases)('%s in the middle gives the same weights and numbers, bit by bit', async (algorithm, set, wants) => {
    const data = await rollouts(10)
    const experts = (await rollouts(6)).map(({ logprobs, reward, advantages, ...rest }) => rest as Experience)
    const config = stepConfig(algorithm, { ...small, 'algorithm.kl_loss_fn': 'k2', ...set })
    const dir = await tempDir()

    /** One process: fresh models; runs until `until`, then is gone without a word. */
    async function process(dir: string, ears: Ears, until: number) {
      const policy = await model(1)
      const critic = wants.includes('critic') ? await model(3) : undefined
      const reference = wants.includes('reference') ? await model(2) : undefined
      const auxiliary = await openBuffer({ name: 'sft_dataset', storage_type: 'queue' })
      if (wants.includes('experts')) await auxiliary.put(experts)
      await auxiliary.finish()
      const checkpoints = await Checkpoints.open({ dir })
      const given = await parts(
        { ...config, trainer: { ...config.trainer, save_interval: 2 } },
        { policy, critic, reference },
        data,
        {
          ears,
          checkpoints,
          auxiliaryBuffers: { sft_dataset: auxiliary },
          snapshot: async () => ({ state: { buffer: await given.buffer.cut() } }),
          sync: { whileWaiting: async () => {}, afterStep: async (step) => void (step === until && dead.abort()) },
        },
      )
      const dead = new AbortController()
      const trainer = new Trainer(given)
      const saved = await checkpoints.latest()
      if (saved) {
        await given.buffer.restore(saved.state.buffer as Cut)
        await trainer.resume(saved)
      }
      await trainer.run(dead.signal).catch(() => {})
      return { policy: policy.bigram.weights, critic: critic?.bigram.weights, step: trainer.step }
    }

    const whole = new Ears()
    const expected = await process(await tempDir(), whole, -1)
    expect(expected.step).toBeGreaterThanOrEqual(5)
    await process(dir, new Ears(), 1)
    await process(dir, new Ears(), 3)
    const last = new Ears()
    const resumed = await process(dir, last, -1)
    expect(resumed).toEqual(expected)
    for (const step of [3, 4, 5]) expect(last.of(step)).toEqual(whole.of(step))
    expect(last.logged[0].step).toBe(3)
    await rm(dir, { recursive: true })
  })

  it('refuses a checkpoint without a critic when one is trained', async () => {
    const dir = await tempDir()
    const plain = await parts(stepConfig('grpo', small), { policy: await model(1) }, await rollouts(2), { dir })
    await new Trainer(plain).run(never())
    await plain.checkpoints.close()
    const models = { policy: await model(1), critic: await model(3) }
    const ppo = await parts(stepConfig('ppo', small), models, await rollouts(2), { dir })
    await expect(new Trainer(ppo).resume((await ppo.checkpoints.latest())!)).rejects.toThrow('has no critic')
  })
})
