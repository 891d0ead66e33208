import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeBench } from '../../scripts/kill-test.mjs'
import { cli, trinity } from './cli-kit.js'

/** What the first run of some tasks does, by their question. */
const DEEDS = {
  '0+0=': 'for (;;) JSON.parse("[1]")',
  '1+1=': 'for (;;) await null',
  '2+2=': 'process.exit(0)',
  '3+3=': 'setTimeout(() => { throw new Error("too late") }, 1); await new Promise(() => {})',
  '4+4=': 'const kept = []; for (;;) kept.push(new Array(100_000).fill(0.5))',
}

const WORDS: Readonly<Record<string, RegExp>> = {
  '2+2=': /1\/2\/0 .*process\.exit\(0\) was called.*deeds\.mjs:\d+/,
  '3+3=': /1\/3\/0 .*too late.*deeds\.mjs:\d+/,
  '4+4=': /1\/4\/0 .*it took more than 96 MB/,
}

let dir: string

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-isolation-'))
  await makeBench(dir, { cli, steps: 1 })
  const cases = Object.entries(DEEDS).map(([question, deed]) => `case '${question}': { ${deed} }`)
  writeFileSync(
    join(dir, 'plugins', 'deeds.mjs'),
    `import { workflows } from 'trinity-rft'
workflows.add('deeds_workflow', async (context) => {
  if (context.run === 0 && process.env.DEEDS.includes(context.task.raw.q)) switch (context.task.raw.q) {
  ${cases.join('\n  ')}
  }
  return workflows.get('count_workflow')(context)
})
`,
  )
}, 120_000)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** A run in which the first run of each of these tasks does what it does. */
async function isolated(isolation: string, deeds: readonly string[], keys: readonly string[]) {
  const out = join(dir, `${isolation}-${keys.length}`)
  const all = [
    `checkpoint_root_dir=${out}`,
    `explorer.isolation=${isolation}`,
    'buffer.explorer_input.eval_tasksets=[]',
    'algorithm.repeat_times=2',
    ...keys,
  ]
  const set = all.flatMap((key) => ['--set', key])
  const args = ['run', '-c', 'offset0.yaml', '--plugin-dir', 'plugins', ...set]
  const ended = await trinity(dir, args, undefined, { DEEDS: deeds.join(' ') })
  const job = join(out, 'kill', 'job')
  return { ...ended, job, file: (...path: string[]) => readFileSync(join(job, ...path), 'utf8') }
}

describe.each([
  ['thread', '1+1='],
  ['process', '0+0='],
])('explorer.isolation: %s', (isolation, loop) => {
  it('a loop, an exit, a late throw, wild memory cost their rollout and nothing else', {
    timeout: 300_000,
  }, async () => {
    const { code, stdout, stderr, file } = await isolated(
      isolation,
      [loop, ...Object.keys(WORDS)],
      [
        'buffer.explorer_input.taskset.default_workflow_type=deeds_workflow',
        'buffer.batch_size=5',
        // one after the other: a loop would take the time of the rest
        'explorer.runner_per_model=1',
        'explorer.max_retry_times=0',
        'explorer.max_timeout=4',
        'explorer.isolation_memory=96',
      ],
    )
    expect(code, stdout + stderr).toBe(0)
    const { metrics } = JSON.parse(file('monitor', 'explorer.jsonl').split('\n')[0])
    expect(metrics).toMatchObject({ 'rollout/failed/timeout': 1, 'rollout/failed/workflow_error': 3 })
    const log = file('log', 'explorer_runner_0.log')
    for (const words of Object.values(WORDS)) expect(log).toMatch(words)
    expect(stderr).not.toMatch(/FATAL ERROR|^ {4}at /m)
  })
})
