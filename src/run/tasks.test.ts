import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { withClosers } from './closers.js'
import { expectedSteps, lastStep, openEvalTasksets, openScheduler } from './tasks.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-tasks-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const path = join(dir, 'tasks.jsonl')
writeFileSync(path, Array.from({ length: 10 }, (_, i) => `{"question": "q${i}", "answer": "a"}\n`).join(''))
const format = { prompt_key: 'question', response_key: 'answer' }
const keys = {
  'buffer.explorer_input.taskset.path': path,
  'buffer.explorer_input.taskset.format': format,
  'buffer.batch_size': 4,
  'buffer.total_epochs': 2,
}

describe('the tasks of a run', () => {
  it('come in whole batches over the epochs, and without settings that the file leaves open', async () => {
    await withClosers(async (closers) => {
      const scheduler = await openScheduler(withKeys(keys), closers)
      expect(scheduler.steps).toBe(5)
    })
  })

  it('fewer than one batch is nothing to run', async () => {
    const few = withClosers((closers) =>
      openScheduler(withKeys({ ...keys, 'buffer.batch_size': 32, 'buffer.total_epochs': 1 }), closers),
    )
    await expect(few).rejects.toMatchObject({
      code: 'config/nothing-to-do',
      message: expect.stringMatching(/^nothing/),
    })
  })

  it('another failure stays what it is', async () => {
    const gone = { ...keys, 'buffer.explorer_input.taskset.path': join(dir, 'gone.jsonl') }
    const failing = withClosers((closers) => openScheduler(withKeys(gone), closers))
    await expect(failing).rejects.not.toMatchObject({ code: 'config/nothing-to-do' })
  })

  it('evaluation sets are opened in their order', async () => {
    const config = withKeys({
      ...keys,
      'buffer.explorer_input.eval_tasksets': [
        { name: 'one', path, format, default_workflow_type: 'math_workflow' },
        { name: 'two', path, format, default_workflow_type: 'math_workflow' },
      ],
    })
    await withClosers(async (closers) => {
      const sets = await openEvalTasksets(config, closers)
      expect(sets.map(({ name, length }) => [name, length])).toEqual([
        ['one', 10],
        ['two', 10],
      ])
    })
  })
})

describe('training steps that rollouts give', () => {
  const steps = (set: Record<string, unknown>) => expectedSteps(withKeys({ ...keys, ...set }), { steps: 5 })
  const grpo = { 'algorithm.algorithm_type': 'grpo', 'algorithm.repeat_times': 8 }

  it('are the experiences over the batch of the trainer, at least one', () => {
    expect(steps({ ...grpo, 'buffer.train_batch_size': 32 })).toBe(5)
    expect(steps({ ...grpo, 'buffer.train_batch_size': 64 })).toBe(2)
    expect(steps({ ...grpo, 'buffer.train_batch_size': 1024 })).toBe(1)
  })

  it('are not known where a run gives any number, or experiences are used again', () => {
    expect(steps({ ...grpo, 'algorithm.advantage_fn': 'step_wise_grpo' })).toBeUndefined()
    const r3l = { 'buffer.explorer_input.taskset.default_workflow_type': 'R3L_countdown_workflow' }
    expect(steps({ ...grpo, ...r3l })).toBeUndefined()
    const replay = (args: object) => ({ 'buffer.trainer_input.experience_buffer.replay_buffer': args })
    expect(steps({ ...grpo, ...replay({ enable: true, reuse_cooldown_time: 0 }) })).toBeUndefined()
    expect(steps({ ...grpo, ...replay({ enable: true }) })).toBe(5)
  })

  it('end at total_steps where a rollout gives any number', () => {
    const last = (set: Record<string, unknown>) => lastStep(withKeys({ ...keys, ...grpo, ...set }))
    const stepWise = { 'algorithm.advantage_fn': 'step_wise_grpo' }
    expect(last({ 'buffer.total_steps': 7 })).toBeUndefined()
    expect(last({ ...stepWise, 'buffer.total_steps': 7 })).toBe(7)
    expect(last({ ...stepWise, 'buffer.total_steps': 7, 'synchronizer.trainer_sync_interval': 3 })).toBe(21)
    expect(last({ ...stepWise, 'buffer.total_steps': 7, 'trainer.total_steps': 9 })).toBe(9)
    expect(last(stepWise)).toBeUndefined()
  })
})
