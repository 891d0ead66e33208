import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openBuffer, openKeeper } from '../buffer/index.js'
import { createExperience } from '../experience/create.js'
import type { Experience } from '../experience/experience.js'
import { ExperiencePipeline, operator, operators } from './index.js'

const folder = mkdtempSync(join(tmpdir(), 'trinity-pipeline-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const make = (task: number, reward?: number) =>
  createExperience({
    eid: { batch: 0, task },
    tokens: [1, 2, 3, 4],
    promptLength: 3,
    ...(reward === undefined ? {} : { reward }),
  })
const batch = () => [make(0, 1), make(0, 0), make(1, 1), make(1), make(2, -1)]
const output = () => openBuffer({ name: 'out', storage_type: 'queue' })

/** Every reward minus the mean: enough to see that it runs last and on what is left. */
const advantage = (experiences: readonly Experience[]) => {
  const mean = experiences.reduce((sum, e) => sum + e.reward!, 0) / experiences.length
  const scored = experiences.map((e) => ({ ...e, advantages: Float32Array.of(e.reward! - mean) }))
  return { experiences: scored, metrics: { 'group_advantages/reward_mean/mean': mean } }
}

describe('the experience pipeline', () => {
  it('runs its operators in order, then the advantage, then puts', async () => {
    const buffer = await output()
    const pipeline = await ExperiencePipeline.open({
      operators: [{ name: 'invalid_reward_filter' }, { name: 'reward_filter', args: { threshold: 0 } }],
      advantage,
      output: buffer,
    })
    const report = await pipeline.process(batch(), { mark: 1 })
    expect(report.steps).toMatchObject([
      { name: 'invalid_reward_filter', in: 5, out: 4, dropped: { 'no reward': 1 } },
      { name: 'reward_filter', in: 4, out: 3, dropped: { 'reward below 0': 1 } },
      { name: 'advantage', in: 3, out: 3, dropped: {} },
    ])
    expect(Object.keys(report.metrics).sort()).toEqual([
      'experience_pipeline/experience_count',
      'experience_pipeline/filtered_count',
      'experience_pipeline/group_advantages/reward_mean/mean',
      'experience_pipeline/time/operator/0_invalid_reward_filter',
      'experience_pipeline/time/operator/1_reward_filter',
      'experience_pipeline/time/operator/2_advantage',
      'experience_pipeline/time/total',
      'experience_pipeline/time/write',
    ])
    expect(report.metrics['experience_pipeline/experience_count']).toBe(3)
    const taken = await buffer.take(3)
    expect(taken.map((e) => e.advantages![0])).toEqual([1, -2, 1].map((x) => Math.fround(x / 3)))
    expect((await buffer.cut()).marks).toEqual({ explorer: 1 })
  })

  it('moves the mark on even when nothing is left', async () => {
    const buffer = await output()
    const pipeline = await ExperiencePipeline.open({
      operators: [{ name: 'reward_filter', args: { threshold: 99 } }],
      output: buffer,
    })
    const report = await pipeline.process(batch(), { mark: { step: 5 } })
    expect(report.metrics['experience_pipeline/experience_count']).toBe(0)
    expect((await buffer.cut()).marks).toEqual({ explorer: { step: 5 } })
  })

  it('keeps the raw experiences in a database, and drops those after a cut', async () => {
    const file = join(folder, 'explorer_output.db')
    const input = await openKeeper(`sqlite:///${file}`, 'pipeline_input', { job: 'p/j' })
    const pipeline = await ExperiencePipeline.open({
      operators: [{ name: 'reward_filter', args: { threshold: 1 } }],
      input,
      output: await output(),
    })
    await pipeline.process(batch())
    const cut = JSON.parse(JSON.stringify(await pipeline.cut()))
    await pipeline.process(batch())
    expect(await pipeline.restore(cut)).toBe(5)
    await pipeline.process(batch())
    await pipeline.close()
    const rows = new Libsql(file).prepare('SELECT task_id, reward FROM pipeline_input ORDER BY id').all()
    expect(rows).toHaveLength(10)
    expect(rows[3]).toMatchObject({ task_id: '1', reward: null })
  })

  it('keeps the raw experiences in a JSONL file', async () => {
    const path = join(folder, 'input.jsonl')
    const input = await openKeeper(path, 'pipeline_input', {})
    const pipeline = await ExperiencePipeline.open({ operators: [], input, output: await output() })
    await pipeline.process(batch())
    await pipeline.close()
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(5)
  })

  it('takes operators of users', async () => {
    operators.add(
      'test_double_reward',
      operator({
        doc: 'Multiplies every reward.',
        args: z.strictObject({ factor: z.number().default(2) }),
        create: ({ factor }) => ({
          process: (list) => ({ experiences: list.map((e) => ({ ...e, reward: (e.reward ?? 0) * factor })) }),
        }),
      }),
    )
    const buffer = await output()
    const pipeline = await ExperiencePipeline.open({
      operators: [{ name: 'test_double_reward', args: { factor: 3 } }],
      output: buffer,
    })
    await pipeline.process([make(0, 2)])
    expect((await buffer.take(1))[0].reward).toBe(6)
  })

  it('names the operator that is wrong', async () => {
    const open = (name: string, args = {}) =>
      output().then((o) => ExperiencePipeline.open({ operators: [{ name, args }], output: o }))
    await expect(open('reward_fliter')).rejects.toMatchObject({ hint: expect.stringMatching(/reward_filter/) })
    await expect(open('reward_filter', { treshold: 1 })).rejects.toThrow(/operator 'reward_filter'.*treshold/)
    operators.add(
      'test_throws',
      operator({
        doc: 'Throws.',
        args: z.strictObject({}),
        create: () => ({
          process: () => {
            throw new Error('boom')
          },
        }),
      }),
    )
    const pipeline = await open('test_throws')
    await expect(pipeline.process(batch())).rejects.toMatchObject({
      code: 'pipeline/operator',
      path: 'data_processor.experience_pipeline.operators[0]',
    })
  })
})
