import { describe, expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { backlogWatch } from './backlog.js'
import { expectedSteps } from './tasks.js'

const keys = { 'algorithm.algorithm_type': 'multi_step_grpo', 'buffer.train_batch_size': 32 }

function notesOf(set: Record<string, unknown>, made: readonly number[]): string[] {
  const notes: string[] = []
  const watch = backlogWatch(withKeys({ ...keys, ...set }), (text) => void notes.push(text))
  for (const experiences of made) watch(experiences)
  return notes
}

describe('a trainer that falls behind', () => {
  it('is told of once, with the batch size that would do', () => {
    const notes = notesOf({}, [100, 100, 100, 100, 100])
    expect(notes).toEqual([expect.stringMatching(/makes about 100 .* takes 32 .*train_batch_size to about 100/)])
  })

  it('is one only when it goes on', () => {
    expect(notesOf({}, [100, 100, 30, 100, 100, 30])).toEqual([])
    expect(notesOf({}, [32, 32, 32, 32])).toEqual([])
  })

  it('counts the training steps of an explorer step', () => {
    const intervals = { 'synchronizer.explorer_sync_interval': 1, 'synchronizer.trainer_sync_interval': 4 }
    expect(notesOf(intervals, [100, 100, 100, 100])).toEqual([])
    expect(notesOf(intervals, [200, 200, 200])).toEqual([expect.stringContaining('to about 50')])
  })

  it('is meant where each side goes at its own pace', () => {
    expect(notesOf({ 'synchronizer.sync_style': 'fully_async' }, [100, 100, 100, 100])).toEqual([])
  })
})

describe('steps that a run will have', () => {
  const of = (set: Record<string, unknown>) =>
    expectedSteps(withKeys({ 'buffer.batch_size': 4, 'algorithm.repeat_times': 8, ...set }), { steps: 10 })

  it('follow from the tasks where each run gives one experience', () => {
    expect(of({ 'algorithm.algorithm_type': 'grpo', 'buffer.train_batch_size': 32 })).toBe(10)
    expect(of({ 'algorithm.algorithm_type': 'grpo', 'buffer.train_batch_size': 16 })).toBe(20)
  })

  it.each(['multi_step_grpo', 'gigpo', 'step_opmd', 'step_opmd_reweight_adv'])('are unknown with %s', (type) => {
    expect(of({ 'algorithm.algorithm_type': type })).toBeUndefined()
  })
})
