import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { advantageFn } from '../../src/algorithm/advantage/advantage.js'
import { perGroup } from '../../src/algorithm/advantage/group.js'
import { advantageFns } from '../../src/algorithm/index.js'
import { exitCodeOf } from '../../src/cli/print.js'
import { operator, sift } from '../../src/pipeline/operator.js'
import { operators } from '../../src/pipeline/registry.js'
import { Stop } from '../../src/run/index.js'
import { readRecords } from '../../src/run/record.js'
import { Bench, Recorder } from './kit.js'

let bench: Bench
let count = 0
let name = ''

const constantAdvantage = (value: number) =>
  advantageFn({
    doc: `every advantage is ${value}`,
    where: 'explorer',
    needs: ['reward'],
    args: z.strictObject({}),
    compute: (experiences) => perGroup(experiences, (rewards) => ({ scores: rewards.map(() => value), metrics: {} })),
  })
advantageFns.add('infinite_advantage', constantAdvantage(Number.POSITIVE_INFINITY))
advantageFns.add('zero_advantage', constantAdvantage(0))
advantageFns.add(
  'leaves_out_half',
  advantageFn({
    doc: 'leaves out the first run of each group',
    where: 'explorer',
    needs: ['reward'],
    args: z.strictObject({}),
    compute: (experiences) =>
      perGroup(experiences, (rewards) => ({ scores: rewards.map((_, i) => (i === 0 ? undefined : 1)), metrics: {} })),
  }),
)
operators.add(
  'first_of_group',
  operator({
    doc: 'Keeps one experience of each group.',
    args: z.strictObject({}),
    create: () => ({
      process(experiences) {
        const { kept, dropped } = sift(experiences, ({ eid }) => (eid.run === 0 ? undefined : 'not the first'))
        return { experiences: kept, dropped }
      },
    }),
  }),
)

beforeAll(async () => {
  bench = await Bench.make()
})
beforeEach(() => {
  name = `job${++count}`
})
afterAll(() => bench.remove())

const HALF = { 'data_processor.experience_pipeline.operators': [{ name: 'first_of_group' }] }
const meta = () => JSON.parse(readFileSync(bench.job(name, 'run_meta.json'), 'utf8'))

describe('a run that ends early', () => {
  it('is partial if experiences were dropped, and names the reason', async () => {
    const run = await bench.run({ name, ...HALF })
    const reason = 'after 3 of 6 steps: 12 of 24 experiences were dropped (12 × first_of_group: not the first)'
    expect(run).toMatchObject({ end: 'partial', steps: 3, reason })
    expect(run.summary).toMatchObject({ ok: true, partial: reason })
    expect(existsSync(bench.job(name, 'run_meta.json')) && meta().finished).toBe(false)
    const [record] = await readRecords(bench.job(name))
    expect(record.end).toMatchObject({ how: 'partial', error: { message: reason } })
  })

  const COUNTS = { trainer: { trained: 12, applied: 3 }, explorer: { made: 24, rollouts: 24, failed: 0 } }

  it('is partial again when it is started again', async () => {
    await bench.run({ name, ...HALF })
    expect(await bench.run({ name, ...HALF })).toMatchObject({ end: 'partial', steps: 3, counts: COUNTS })
  })

  it('is finished if the algorithm itself left groups out', async () => {
    const keys = { name, 'algorithm.advantage_fn_args': { std_threshold: 1 } }
    await expect(bench.run(keys)).rejects.toMatchObject({ code: 'explorer/nothing-usable' })
    name = `job${++count}`
    const run = await bench.run({ name, 'algorithm.advantage_fn': 'leaves_out_half', 'buffer.train_batch_size': 4 })
    expect(run).toMatchObject({ end: 'finished', steps: 3, counts: { explorer: { dropped: { advantage: 12 } } } })
  })

  it('is finished as a trainer of its own if the algorithm itself left groups out', async () => {
    const both = {
      ...{ name, 'algorithm.advantage_fn': 'leaves_out_half', 'synchronizer.sync_timeout': 20 },
      'buffer.trainer_input.experience_buffer': { storage_type: 'sql' },
    }
    const [explorer, trainer] = await Promise.all([
      bench.run({ ...both, mode: 'explore' }),
      bench.run({ ...both, mode: 'train', 'buffer.train_batch_size': 4 }),
    ])
    expect([explorer.end, trainer.end, trainer.steps]).toEqual(['finished', 'finished', 3])
  })

  it('is finished if no number of steps is set', async () => {
    const epochs = { 'buffer.total_steps': null, 'buffer.total_epochs': 1, 'buffer.batch_size': 4 }
    const run = await bench.run({ name, ...HALF, ...epochs })
    expect(run).toMatchObject({ end: 'finished', steps: 3 })
    expect(run.reason).toBeUndefined()
  })

  it('is finished after buffer.total_tokens', async () => {
    const run = await bench.run({ name, 'buffer.total_tokens': 30 })
    expect(run.steps).toBeLessThan(6)
    expect(run.end).toBe('finished')
  })

  it('is partial if no update changed the weights', async () => {
    const run = await bench.run({ name, 'algorithm.advantage_fn': 'zero_advantage', 'algorithm.kl_loss_fn': 'none' })
    expect(run).toMatchObject({ end: 'partial', steps: 6 })
    expect(run.reason).toBe('after 6 steps: no update had a gradient above 0, so the weights did not change')
  })

  it('is finished without a change of the weights if the learning rate is 0', async () => {
    expect((await bench.run({ name, 'algorithm.optimizer.lr': 0 })).end).toBe('finished')
  })

  it('is partial as a trainer whose explorers end before trainer.total_steps', async () => {
    const experience = { storage_type: 'sql' }
    const both = { name, 'buffer.trainer_input.experience_buffer': experience, 'synchronizer.sync_timeout': 20 }
    const [explorer, trainer] = await Promise.all([
      bench.run({ ...both, mode: 'explore' }),
      bench.run({ ...both, mode: 'train', 'buffer.train_batch_size': 4, 'trainer.total_steps': 8 }),
    ])
    expect(explorer.end).toBe('finished')
    expect(trainer).toMatchObject({ end: 'partial', reason: 'after 6 of 8 steps: the explorers ended' })
    expect(trainer.counts).toMatchObject({ explorer: { made: 24 }, trainer: { trained: 24 } })
  })
})

describe('a run whose updates are refused', () => {
  const broken = { 'algorithm.advantage_fn': 'infinite_advantage' }
  const failure = (keys: Record<string, unknown>) => bench.run({ name, ...broken, ...keys }).catch((error) => error)

  it('fails with exit code 2 if none was applied', async () => {
    const error = await failure({})
    expect(error).toMatchObject({ code: 'trainer/no-update', hint: expect.stringContaining('algorithm.optimizer.lr') })
    expect(error.message).toContain('none of the 6 updates in 6 steps was applied')
    expect(exitCodeOf(error)).toBe(2)
    expect(bench.checkpoints(name)).toEqual([])
  })

  it('stops after trainer.max_refused_updates in a row', async () => {
    const error = await failure({ 'trainer.max_refused_updates': 3 })
    expect(error).toMatchObject({ code: 'trainer/no-update', message: expect.stringContaining('the last 3 updates') })
    expect(bench.metrics('trainer', name).length).toBe(2)
  })

  it('does not stop before the end with trainer.max_refused_updates: 0', async () => {
    const error = await failure({ 'trainer.max_refused_updates': 0, 'buffer.total_steps': 12 })
    expect(error.message).toContain('none of the 12 updates in 12 steps was applied')
  })
})

it('counts every step once in a run that was stopped and resumed', async () => {
  const whole = await bench.run({ name })
  name = `job${++count}`
  const stop = new Stop()
  const view = new Recorder()
  view.onMetrics = (role, step) => {
    if (role === 'trainer' && step === 2) stop.request()
  }
  expect(await bench.run({ name }, { stop, view })).toMatchObject({ end: 'stopped' })
  expect((await bench.run({ name })).counts).toEqual(whole.counts)
})
