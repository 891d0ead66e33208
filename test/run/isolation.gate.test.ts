import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeBench } from '../../scripts/kill-test.mjs'
import { cli, type Ended, expectComplete, trinity } from './cli-kit.js'

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

/** Runs the configuration as a user does, with evaluations. `seen` gets everything it prints. */
async function run(
  name: string,
  keys: readonly string[],
  seen?: Parameters<typeof trinity>[2],
  env?: NodeJS.ProcessEnv,
): Promise<Ended & { job: string }> {
  const out = join(dir, name)
  const set = [`checkpoint_root_dir=${out}`, ...keys].flatMap((key) => ['--set', key])
  const ended = await trinity(dir, ['run', '-c', 'offset0.yaml', '--plugin-dir', 'plugins', ...set], seen, env)
  return { ...ended, job: join(out, 'kill', 'job') }
}

const read = (job: string, ...path: string[]) => readFileSync(join(job, ...path), 'utf8')
const metricsOf = (job: string) =>
  read(job, 'monitor', 'explorer.jsonl')
    .trim()
    .split('\n')
    .map((line): Record<string, number> => JSON.parse(line).metrics)
const locksIn = (job: string) => readdirSync(job).filter((name) => name.startsWith('.lock'))

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
  const isolate = `explorer.isolation=${isolation}`

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
    expectComplete({ code, stdout, stderr })
    const { metrics } = JSON.parse(file('monitor', 'explorer.jsonl').split('\n')[0])
    expect(metrics).toMatchObject({ 'rollout/failed/timeout': 1, 'rollout/failed/workflow_error': 3 })
    const log = file('log', 'explorer_runner_0.log')
    for (const words of Object.values(WORDS)) expect(log).toMatch(words)
    expect(stderr).not.toMatch(/FATAL ERROR|^ {4}at /m)
  })

  it('finishes in mode explore', { timeout: 300_000 }, async () => {
    const keys = ['mode=explore', 'buffer.total_steps=2', 'synchronizer.sync_interval=10']
    const storage = 'buffer.trainer_input.experience_buffer.storage_type=sql'
    const { code, stdout, stderr, job } = await run(`explore-${isolation}`, [isolate, storage, ...keys])
    expect(code, stdout + stderr).toBe(0)
    expect(stdout).toMatch(/done +2 steps/)
    expect(metricsOf(job).filter((one) => 'experience_pipeline/experience_count' in one)).toHaveLength(2)
    expect(locksIn(job)).toEqual([])
  })

  it('finishes in mode bench', { timeout: 300_000 }, async () => {
    const { code, stdout, stderr, job } = await run(`bench-${isolation}`, [isolate, 'mode=bench'])
    expect(code, stdout + stderr).toBe(0)
    expect(read(job, 'bench', 'results.json')).toContain('reward/mean@1')
  })

  it.each([0, 1, 3])('saves and leaves no lock at a SIGTERM after step %i', { timeout: 300_000 }, async (step) => {
    let isAsked = false
    const keys = [isolate, 'buffer.total_steps=100000', 'trainer.save_interval=100000']
    const moment = step === 0 ? /looking at the model/ : new RegExp(`trainer +step ${step}\\b`)
    const { code, stdout, stderr, job } = await run(`stop${step}-${isolation}`, keys, (text, child) => {
      if (!isAsked && moment.test(text)) isAsked = child.kill('SIGTERM')
    })
    expect(isAsked, stdout).toBe(true)
    expect(code, stdout + stderr).toBe(0)
    expect(stdout).toMatch(/^stopped/m)
    expect(stderr).not.toContain('stayed open')
    const stopped = Number(/^stopped +(\d+) steps?/m.exec(stdout)?.[1] ?? 0)
    expect(stopped).toBeGreaterThanOrEqual(step)
    if (stopped > 0) expect(Number(read(job, 'latest_checkpointed_iteration.txt'))).toBe(stopped)
    expect(locksIn(job)).toEqual([])
  })

  it('resumes a run that was killed between its last step and its last evaluation', { timeout: 300_000 }, async () => {
    const hold = join(dir, `hold-${isolation}`)
    writeFileSync(hold, '')
    const keys = [isolate, 'buffer.total_steps=3', 'explorer.eval_interval=10']
    const name = `last-${isolation}`
    const latest = join(dir, name, 'kill', 'job', 'latest_checkpointed_iteration.txt')
    let timer: NodeJS.Timeout | undefined
    const killed = await run(
      name,
      keys,
      (_, child) => {
        timer ??= setInterval(() => {
          if (existsSync(latest) && readFileSync(latest, 'utf8').trim() === '3') child.kill('SIGKILL')
        }, 20)
      },
      { KILL_TEST_HOLD: hold },
    ).finally(() => clearInterval(timer))
    expect(killed.signal, killed.stdout + killed.stderr).toBe('SIGKILL')
    rmSync(hold)
    const { code, stdout, stderr, job } = await run(name, keys)
    expect(code, stdout + stderr).toBe(0)
    const evaluated = metricsOf(job).filter((one) => 'eval/held/reward/mean@1' in one)
    expect(evaluated.at(-1)).toMatchObject({ 'rollout/model_version': 3 })
    expect(locksIn(job)).toEqual([])
  })
})
