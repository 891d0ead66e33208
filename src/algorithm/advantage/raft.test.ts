import { describe, expect, it } from 'vitest'
import { experience, groups } from '../../../test/algorithm/experiences.js'
import type { Experience } from '../../experience/index.js'
import { advantageFns } from './registry.js'

const select = (experiences: readonly Experience[], args: Record<string, unknown> = {}) =>
  advantageFns.get('raft').compute(experiences, advantageFns.parse('raft', args, 'args'), { random: () => 0 })
const kept = (experiences: readonly Experience[]) => experiences.map(({ actionMask }) => actionMask.includes(1))

describe('raft', () => {
  it('keeps the best answers of a group above the threshold, ties included', () => {
    const given = groups([0, 0.5, 1, 1], [0.2, 0.1], [0, -1])
    const { experiences, metrics } = select(given)
    expect(kept(experiences)).toEqual([false, false, true, true, true, false, false, false])
    expect(experiences.map(({ info }) => info.is_kept)).toEqual(kept(experiences))
    expect(metrics).toMatchObject({
      kept_count: 3,
      kept_ratio: 3 / 8,
      group_count: 3,
      group_without_kept_count: 1,
      'group_rewards/best/max': 1,
    })
    expect(kept(select(given, { threshold: 0.2 }).experiences)).toEqual([
      ...[false, false, true, true],
      ...[false, false, false, false],
    ])
  })

  it('keeps every answer above the threshold when asked', () => {
    const { experiences } = select(groups([0, 0.5, 1, 1], [0.2, 0.1]), { keep: 'above' })
    expect(kept(experiences)).toEqual([false, true, true, true, true, true])
  })

  it('weighs kept answers 1 and leaves the others in the batch without an active token', () => {
    const given = groups([1, 0])
    const { experiences } = select(given)
    expect(experiences.map((one) => [[...one.advantages!], [...one.actionMask]])).toEqual([
      [
        [1, 0, 1],
        [1, 0, 1],
      ],
      [
        [0, 0, 0],
        [0, 0, 0],
      ],
    ])
    expect(kept(given)).toEqual([true, true])
  })

  it('ranks runs of several steps by the reward of their last step', () => {
    const step = (run: number, at: number, reward?: number) => experience(0, run, reward, { eid: { step: at } })
    const { experiences } = select([step(0, 0, 5), step(1, 1, 1), step(0, 1, 0), step(1, 0)])
    expect(kept(experiences)).toEqual([false, true, false, true])
  })

  it('leaves out answers without a reward and counts them', () => {
    const { experiences, metrics } = select(groups([1, undefined, Number.NaN], [undefined]))
    expect([experiences.length, metrics.missing_reward_count]).toEqual([1, 3])
  })

  it('prefers the next best answer to a masked one', () => {
    const masked = experience(0, 1, 2, { actionMask: [0, 0, 0], info: {} })
    expect(kept(select([experience(0, 0, 1), masked, experience(0, 2, 0.5)]).experiences)).toEqual([true, false, false])
  })

  it('does not rank what a workflow, an operator or an expert has decided', () => {
    const decided = [
      experience(0, 0, 0.4, { info: { is_kept: true } }),
      experience(0, 1, 1, { info: { is_kept: false } }),
      experience(0, 2, -1, { info: { is_kept: true } }),
      experience(1, 0, undefined, { info: { is_expert: true } }),
    ]
    const { experiences, metrics } = select(decided)
    expect(kept(experiences)).toEqual([true, false, true, true])
    expect(experiences[3].info).toEqual({ is_expert: true })
    expect(metrics).toMatchObject({ kept_count: 3, group_without_kept_count: 0 })
  })

  it('changes nothing when repeated on a part of a group', () => {
    const once = select(groups([0.5, 1, 0.2])).experiences
    for (const part of [once, once.slice(0, 1), once.slice(1)]) expect(select(part).experiences).toEqual(part)
  })
})
