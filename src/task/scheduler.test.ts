import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { testData } from '../../test/support/test-data.js'
import type { DataSelectorConfig, Given, TasksetConfig } from '../config/index.js'
import { type SchedulerConfig, TasksetScheduler } from './scheduler.js'
import { taskStorages } from './source/registry.js'
import { ListSource } from './source/row-source.js'
import type { Task } from './task.js'

beforeAll(() => {
  taskStorages.add('memory', {
    doc: 'rows made up for a test; the path is their number',
    open: async ({ path }) => {
      const size = Number(path)
      const rows = Array.from({ length: size }, (_, i) => ({
        prompt: `${i}`,
        weak: (i % 3) / 4,
        strong: 0.5 + (i % 5) / 10,
      }))
      return new ListSource(rows, 'memory')
    },
  })
})

const memory = (
  size: number,
  selector: Given<DataSelectorConfig> = {},
  more: Given<TasksetConfig> = {},
): Given<TasksetConfig> => ({
  storage_type: 'memory',
  path: String(size),
  default_workflow_type: 'w',
  data_selector: selector,
  ...more,
})
const show = (tasks: readonly Task[]) => tasks.map(({ index }) => `${index.row}/${index.taskset}`).join(' ')

async function orders(config: SchedulerConfig): Promise<string[]> {
  const scheduler = await TasksetScheduler.open(config)
  const batches: string[] = []
  for (let tasks = await scheduler.next(); tasks; tasks = await scheduler.next()) batches.push(show(tasks))
  await scheduler.close()
  return batches
}

/** Two epochs of twelve tasks in batches of two, as one line. */
const twoEpochs = async (selector: Given<DataSelectorConfig>) =>
  (await orders({ tasksets: [memory(5, selector), memory(7, selector)], batch_size: 2, total_epochs: 2 })).join(' ')

describe('published orders (sizes 5 and 7)', () => {
  it('sequential, batches of 5', async () => {
    const tasksets = [memory(5), memory(7)]
    const three = ['0/1 1/1 2/1 0/0 1/0', '3/1 4/1 5/1 2/0 3/0', '6/1 0/1 1/1 4/0 0/0']
    expect(await orders({ tasksets, batch_size: 5, total_steps: 3 })).toEqual(three)
    expect(await orders({ tasksets, batch_size: 5, total_epochs: 2 })).toEqual([...three, '2/1 3/1 4/1 1/0 2/0'])
  })

  it('sequential, batches of 2', async () => {
    expect(await twoEpochs({ selector_type: 'sequential' })).toBe(
      '0/1 0/0 1/1 1/0 2/1 3/1 2/0 3/0 4/1 5/1 6/1 4/0 0/1 1/1 0/0 2/1 3/1 1/0 2/0 4/1 3/0 5/1 6/1 4/0',
    )
  })

  it('shuffle', async () => {
    expect(await twoEpochs({ selector_type: 'shuffle', seed: 42 })).toBe(
      '3/1 4/0 2/1 2/0 6/1 4/1 3/0 1/0 1/1 5/1 0/1 0/0 2/1 6/1 4/0 5/1 1/1 1/0 2/0 4/1 0/0 0/1 3/1 3/0',
    )
  })

  it('random', async () => {
    expect(await twoEpochs({ selector_type: 'random', seed: 42 })).toBe(
      '0/1 0/0 3/1 2/0 4/1 0/1 2/0 0/0 6/1 3/1 0/1 2/0 0/1 2/1 0/0 2/1 6/1 0/0 0/0 5/1 3/0 2/1 6/1 1/0',
    )
  })

  const fixtures = testData('trinity_fixtures/task_scheduler')
  it.skipIf(fixtures.absent)(`offline_easy2hard${fixtures.note}`, async () => {
    const tasksets = ['subset_1', 'subset_2'].map((name) => ({
      path: `${fixtures.path}/${name}`,
      default_workflow_type: 'w',
      data_selector: { selector_type: 'offline_easy2hard', feature_keys: ['feature_offline'] },
    }))
    expect((await orders({ tasksets, batch_size: 2, total_epochs: 2 })).join(' ')).toBe(
      '3/1 3/0 4/1 0/0 1/1 0/1 2/0 4/0 6/1 5/1 2/1 1/0 3/1 4/1 3/0 1/1 0/1 0/0 2/0 6/1 4/0 5/1 2/1 1/0',
    )
  })
})

describe('borders', () => {
  it('hands out whole batches only, and counts epochs over all tasks', async () => {
    for (const [size, batch, epochs, steps] of [
      [10, 3, 1, 3],
      [10, 5, 1, 2],
      [10, 3, 3, 10],
      [3, 7, 5, 2],
    ]) {
      const got = await orders({ tasksets: [memory(size)], batch_size: batch, total_epochs: epochs })
      expect(got.length).toBe(steps)
      expect(got.every((line) => line.split(' ').length === batch)).toBe(true)
    }
  })

  it('takes total_steps over total_epochs', async () => {
    expect((await orders({ tasksets: [memory(4)], batch_size: 4, total_epochs: 1, total_steps: 5 })).length).toBe(5)
  })

  it('says when not even one batch comes together', async () => {
    await expect(orders({ tasksets: [memory(3)], batch_size: 4 })).rejects.toThrow('3 tasks do not fill one batch of 4')
    await expect(orders({ tasksets: [], batch_size: 4 })).rejects.toThrow('no task set')
  })

  it('gives evaluation every task once, the last batch smaller', async () => {
    const scheduler = await TasksetScheduler.open({ tasksets: [memory(5, { selector_type: 'random' })], batch_size: 1 })
    const sizes: string[] = []
    for await (const batch of scheduler.tasksets[0].batches(2)) sizes.push(show(batch))
    expect(sizes).toEqual(['0/0 1/0', '2/0 3/0', '4/0'])
  })
})

describe('mixing', () => {
  it('by ratio: the shares of an epoch follow the ratios, not the sizes', async () => {
    const tasksets = [memory(10, {}, { ratio: 3 }), memory(90, {}, { ratio: 1 })]
    const rows = (await orders({ tasksets, batch_size: 100, total_epochs: 1 }))[0].split(' ')
    expect(rows.filter((row) => row.endsWith('/0')).length).toBe(75)
  })

  it('refuses half-given ratios', async () => {
    const tasksets = [memory(10, {}, { ratio: 3 }), memory(10)]
    await expect(orders({ tasksets, batch_size: 2 })).rejects.toThrow("task set 'taskset_1' has no positive ratio")
  })

  it('by size: every epoch holds every task of every set once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }), async (sizes) => {
        const total = sizes.reduce((sum, size) => sum + size, 0)
        const tasksets = sizes.map((size) => memory(size, { selector_type: 'shuffle' }))
        for (const epoch of await orders({ tasksets, batch_size: total, total_epochs: 3 })) {
          expect(new Set(epoch.split(' ')).size).toBe(total)
        }
      }),
      { numRuns: 30 },
    )
  })
})

describe('state', () => {
  const kinds = ['sequential', 'shuffle', 'random', 'offline_easy2hard', 'difficulty_based'] as const
  const keysOf = { offline_easy2hard: ['weak', 'strong'], difficulty_based: ['weak', 'strong'] } as Record<
    string,
    string[]
  >

  /** Runs to the end; feeds a pass rate back for every task, as an explorer would. */
  async function rest(scheduler: TasksetScheduler, stopAt = Number.POSITIVE_INFINITY): Promise<string[]> {
    const lines: string[] = []
    while (scheduler.step < stopAt) {
      const tasks = await scheduler.next()
      if (!tasks) break
      lines.push(show(tasks))
      for (const { index } of tasks) scheduler.feedback(index.taskset, [index.row], [((index.row * 7) % 10) / 10])
    }
    return lines
  }

  it('interrupted at any step and restored from JSON, gives the same sequence', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ size: fc.integer({ min: 1, max: 12 }), kind: fc.constantFrom(...kinds) }), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 9 }),
        fc.nat(),
        async (sets, batch, steps, cut) => {
          const tasksets = sets.map(({ size, kind }) =>
            memory(size, { selector_type: kind, feature_keys: keysOf[kind] }),
          )
          const config = { tasksets, batch_size: batch, total_steps: steps }
          const whole = await rest(await TasksetScheduler.open(config))
          const first = await TasksetScheduler.open(config)
          const before = await rest(first, cut % (steps + 1))
          const saved = JSON.parse(JSON.stringify(first.state()))
          const second = await TasksetScheduler.open(config)
          second.restore(saved)
          expect([...before, ...(await rest(second))]).toEqual(whole)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('refuses the state of other data', async () => {
    const one = await TasksetScheduler.open({ tasksets: [memory(5)], batch_size: 1 })
    const two = await TasksetScheduler.open({ tasksets: [memory(6)], batch_size: 1 })
    expect(() => two.restore(one.state())).toThrow('taskset_0 (5 tasks); configured: taskset_0 (6 tasks)')
  })

  it('two calls in flight do not mix', async () => {
    const config = { tasksets: [memory(5), memory(7)], batch_size: 3, total_epochs: 1 }
    const scheduler = await TasksetScheduler.open(config)
    const together = await Promise.all([scheduler.next(), scheduler.next(), scheduler.next(), scheduler.next()])
    expect(together.map((tasks) => show(tasks ?? []))).toEqual(await orders(config))
  })
})
