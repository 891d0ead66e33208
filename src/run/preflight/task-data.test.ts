import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'
import { withClosers } from '../closers.js'
import { openEvalTasksets, openScheduler } from '../tasks.js'
import { faultyTasks } from './task-data.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-columns-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const path = join(dir, 'tasks.jsonl')
writeFileSync(path, '{"question": "q", "answer": "1"}\n'.repeat(3) + '{"question": null, "answer": "1"}\n')
const set = 'buffer.explorer_input.taskset'

function config(format: Record<string, unknown>, workflow = 'math_workflow') {
  return withKeys({
    [`${set}.path`]: path,
    [`${set}.default_workflow_type`]: workflow,
    [`${set}.format`]: format,
    'buffer.batch_size': 4,
  })
}
const opened = (...given: Parameters<typeof config>) =>
  withClosers((closers) => openScheduler(config(...given), closers))

describe('a key of format that names no column', () => {
  it('stops a run before anything is loaded', async () => {
    await expect(opened({ prompt_key: 'qestion', response_key: 'answer' })).rejects.toMatchObject({
      code: 'task/column',
      path: `${path}:1`,
      hint: 'set format.prompt_key: question (columns: question, answer)',
    })
    await expect(opened({ prompt_key: 'question' })).rejects.toMatchObject({
      code: 'task/column',
      hint: 'set format.response_key: answer (columns: question, answer)',
    })
    const both = config({ prompt_key: 'question', response_key: 'answer' })
    const evaluation = withKeys({
      'buffer.explorer_input.eval_tasksets': [{ path, default_workflow_type: 'math_workflow' }],
    })
    await expect(withClosers((closers) => openEvalTasksets(evaluation, closers))).rejects.toMatchObject({
      code: 'task/column',
    })
    expect(await faultyTasks(both)).toEqual([])
  })

  it('of one row alone stops the run at that row', async () => {
    await withClosers(async (closers) => {
      const scheduler = await openScheduler(config({ prompt_key: 'question', response_key: 'answer' }), closers)
      await expect(scheduler.next()).rejects.toMatchObject({
        code: 'task/column',
        path: `${path}:4`,
        message: expect.stringContaining("the column 'question' is empty"),
      })
    })
  })

  it('is found for every workflow where a file names it; one that reads none needs none', async () => {
    await expect(opened({ prompt_key: 'qestion' }, 'grid_world_workflow')).rejects.toMatchObject({
      code: 'task/column',
    })
    await opened({}, 'grid_world_workflow')
    expect(await faultyTasks(config({}, 'grid_world_workflow'))).toEqual([])
  })

  it('is found in data at hand without running', async () => {
    const found = await faultyTasks(config({ prompt_key: 'qestion', response_key: 'answer' }))
    expect(found).toMatchObject([
      { keys: ['buffer.explorer_input.tasksets[0].format', expect.anything()], error: { code: 'task/column' } },
    ])
    expect(await faultyTasks(withKeys({ [`${set}.path`]: 'openai/gsm8k' }))).toEqual([])
  })

  it('so is a file that is not there, and a split that it does not have', async () => {
    const codes = async (set: Record<string, unknown>) =>
      (await faultyTasks(withKeys(set))).map(({ error }) => error.code)
    expect(await codes({ [`${set}.path`]: join(dir, 'taks.jsonl') })).toEqual(['data/not-found'])
    expect(await codes({ [`${set}.path`]: 'data/nope.jsonl' })).toEqual(['data/not-found'])
    expect(await codes({ [`${set}.path`]: dir, [`${set}.split`]: 'test' })).toEqual(['data/split'])
  })
})
