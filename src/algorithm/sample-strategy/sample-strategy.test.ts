import { describe, expect, it } from 'vitest'
import { experience } from '../../../test/algorithm/experiences.js'
import type { TakeOptions } from '../../buffer/buffer.js'
import type { Experience } from '../../experience/index.js'
import { sampleStrategies } from './registry.js'
import type { ExperienceSource } from './sample-strategy.js'

/** Gives from a list and writes down what was asked of it. */
class ListSource implements ExperienceSource {
  readonly asked: { count: number; options?: TakeOptions }[] = []
  constructor(readonly list: Experience[]) {}
  async take(count: number, options?: TakeOptions): Promise<Experience[]> {
    this.asked.push({ count, options })
    return this.list.splice(0, count)
  }
}

const rollouts = (n: number) =>
  new ListSource(
    Array.from({ length: n }, (_, i) => ({
      ...experience(0, i, i % 5),
      modelVersion: i % 3,
      advantages: Float32Array.of(1, 0, 1),
    })),
  )
const experts = (n: number) =>
  new ListSource(Array.from({ length: n }, (_, i) => experience(9, i, undefined, { logprobs: undefined })))

function sample(name: string, step: number, main: ListSource, args = {}, auxiliary: Record<string, ListSource> = {}) {
  const strategy = sampleStrategies.get(name)
  return strategy.sample(step, { main, auxiliary, batchSize: 8 }, sampleStrategies.parse(name, args, 'args'), {
    deadlineMs: 5,
  })
}

describe('sample strategies', () => {
  it('data that no policy sampled has no age', async () => {
    const { metrics } = await sample('default', 40, experts(8))
    expect(Object.keys(metrics)).toEqual(['time/read_experience'])
    const half = new ListSource([...experts(4).list, ...rollouts(4).list])
    expect((await sample('default', 4, half)).metrics['sample/model_version_drift/mean']).toBe(3 - 3 / 4)
  })

  it.each(['default', 'warmup'])('%s reads one batch and reports ages and extremes', async (name) => {
    const main = rollouts(20)
    const { experiences, metrics, examples } = await sample(name, 4, main)
    expect(experiences.map((e) => e.eid.run)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(main.asked).toEqual([{ count: 8, options: { deadlineMs: 5 } }])
    expect(metrics).toMatchObject({
      'sample/model_version/max': 2,
      'sample/model_version/min': 0,
      'sample/model_version_drift/mean': expect.closeTo(3 - 7 / 8, 9),
      'sample/model_version_drift/max': 3,
      'time/read_experience': expect.any(Number),
    })
    expect(examples.map((e) => e.reward)).toEqual([0, 4])
  })

  it('staleness_control asks for a version', async () => {
    const asked = async (step: number, args: object) => {
      const main = rollouts(8)
      await sample('staleness_control', step, main, args)
      return main.asked[0].options?.minModelVersion
    }
    expect(await asked(10, { max_staleness: 2 })).toBe(7)
    expect(await asked(2, { max_staleness: 5 })).toBe(0)
    expect(await asked(10, {})).toBe(0)
    expect(await asked(10, { max_staleness: Number.POSITIVE_INFINITY })).toBe(0)
  })

  it('mix puts expert rows into every batch', async () => {
    const [main, expert] = [rollouts(20), experts(20)]
    const { experiences } = await sample('mix', 3, main, { expert_data_ratio: 0.3 }, { sft_dataset: expert })
    expect(experiences.map((e) => e.info.is_expert)).toEqual([...Array(5).fill(false), ...Array(3).fill(true)])
    const last = experiences[7]
    expect([last.reward, last.info.step, ...last.advantages!, ...last.logprobs!]).toEqual([0, 3, 0, 0, 0, 0, 0, 0])
    expect(experiences[0].advantages![0]).toBe(1)
  })

  it('mix reports ages and extremes of the rollouts alone', async () => {
    const expert = { sft_dataset: experts(20) }
    const { metrics, examples } = await sample('mix', 4, new ListSource(rollouts(5).list.slice(1)), {}, expert)
    const alone = await sample('default', 4, new ListSource(rollouts(5).list.slice(1)))
    const timeless = { 'time/read_experience': expect.any(Number) }
    expect(metrics).toEqual({ ...alone.metrics, ...timeless })
    expect(examples.map(({ reward }) => reward)).toEqual([1, 4])
    const none = await sample('mix', 4, rollouts(0), { expert_data_ratio: 1 }, { sft_dataset: experts(8) })
    expect([none.metrics, none.examples]).toEqual([timeless, []])
  })

  it('mix takes no expert data in vain when the rollouts have ended', async () => {
    const expert = experts(20)
    const { experiences } = await sample('mix', 3, rollouts(0), {}, { sft_dataset: expert })
    expect([experiences.length, expert.asked.length]).toEqual([0, 0])
  })

  it('mix names the buffer it cannot find', async () => {
    await expect(sample('mix', 1, rollouts(8), {}, { other: experts(1) })).rejects.toThrowError(
      expect.objectContaining({ code: 'algorithm/no-expert-data', hint: expect.stringContaining('other') }),
    )
  })

  it('whole_step takes what was put together, at its end nothing', async () => {
    const main = rollouts(7)
    for (const [i, one] of main.list.entries()) one.info = { step_size: i < 5 ? 5 : 2 }
    const sizes = []
    for (let step = 1; step <= 3; step++) sizes.push((await sample('whole_step', step, main)).experiences.length)
    expect(sizes).toEqual([5, 2, 0])
    // what belongs together is not parted by a signal
    expect(main.asked[1]).toEqual({ count: 4, options: { deadlineMs: 5, signal: undefined } })
  })

  it('critique_grpo marks what a critique has refined', async () => {
    const main = new ListSource([experience(0, 0, 1), experience(0, 1, 1, { info: { is_off_policy: true } })])
    const { experiences } = await sample('critique_grpo', 1, main)
    expect(experiences.map((e) => e.info.is_off_policy)).toEqual([false, true])
  })
})
