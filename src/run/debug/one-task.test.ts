import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'
import { readTask } from './one-task.js'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-task-'))
  const rows = Array.from({ length: 300 }, (_, i) => `{"question": "q${i}", "answer": "${i}"}\n`)
  writeFileSync(join(dir, 'tasks.jsonl'), rows.join(''))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('one task', () => {
  const config = () =>
    withKeys({
      'buffer.explorer_input.taskset.path': join(dir, 'tasks.jsonl'),
      'buffer.explorer_input.taskset.format': { prompt_key: 'question', response_key: 'answer' },
    })

  it('is the row that is asked for, also behind the first part that is read', async () => {
    expect((await readTask(config(), 0)).raw.question).toBe('q0')
    expect((await readTask(config(), 299)).raw.question).toBe('q299')
  })

  it('a row too far says how many there are', async () => {
    await expect(readTask(config(), 300)).rejects.toThrow(/has 300 tasks: there is no task 300/)
  })

  it('without a task set it comes from the first evaluation set, and without one there is none', async () => {
    const given = config()
    const input = given.buffer.explorer_input
    const moved = (eval_tasksets: typeof input.eval_tasksets) => ({
      ...given,
      buffer: { ...given.buffer, explorer_input: { ...input, tasksets: [], eval_tasksets } },
    })
    expect((await readTask(moved(input.tasksets), 7)).raw.question).toBe('q7')
    await expect(readTask(moved([]), 0)).rejects.toMatchObject({
      code: 'config/missing',
      path: 'buffer.explorer_input.taskset',
    })
  })
})
