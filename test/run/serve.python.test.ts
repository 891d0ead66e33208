import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testPython } from '../support/python.js'
import { Bench } from './kit.js'
import { Served } from './serve-kit.js'

const python = testPython('openai', 'requests', 'httpx')
let bench: Bench
beforeAll(async () => {
  bench = await Bench.make()
})
afterAll(() => bench.remove())

it.skipIf(python.absent)(
  `the original's Python client works against mode serve as it is${python.note}`,
  { timeout: 120_000 },
  async () => {
    const served = await Served.open(bench)
    const script = join(import.meta.dirname, 'serve-agent.py')
    const { stdout } = await promisify(execFile)(python.path, [script, served.url])
    await served.end()
    const seen = JSON.parse(stdout)
    expect(seen).toMatchObject({
      alive: true,
      feedback: { status: 'success', count: 2 },
      again: { status: 'success', count: 0 },
      unknown: { error: { message: expect.stringContaining("no answer has the id 'chatcmpl-0'") } },
      wrong: { error: { message: expect.stringContaining('reward: expected a finite number') } },
      commit: { status: 'success' },
      metrics: { 'rollout/ready_experience_count': 2, 'rollout/total_experience_count': 2, explore_step_num: 1 },
      feedback_async: { status: 'success' },
      commit_async: { status: 'success' },
      metrics_async: { 'rollout/ready_experience_count': 3, explore_step_num: 2 },
    })
    const taken = await served.taken()
    expect(taken.map(({ eid, reward }) => [eid.suffix, eid.task, eid.run, reward])).toEqual(
      seen.ids.map((id: string, i: number) => [id, '0f3c2a', 0, i < 2 ? 1 : 0.25]),
    )
  },
)
