// What it brings that rollouts and training overlap: the same job with a rendezvous after every step, with the explorer
// one step ahead, and fully asynchronous. Once with an environment that takes its time (--wait=N ms for each answer, 40),
// where waiting can be filled with training, and once with computation alone, where two loops share the same cores.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median, printTable, ratioRows } from './lib.mjs'

export const title = 'Overlap of rollouts and training'
export const about = 'steps in a rendezvous, one step ahead, and fully asynchronous (needs npm run build)'

const cli = process.env.TRINITY_TEST_CLI ?? fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const STEPS = 12
const ROUNDS = 5
const STYLES = {
  'rendezvous (offset 0)': '{sync_style: fixed, sync_offset: 0}',
  'one step ahead (offset 1)': '{sync_style: fixed, sync_offset: 1}',
  'fully asynchronous': '{sync_style: fully_async}',
}

export async function run(args = []) {
  if (!existsSync(cli)) throw new Error('there is no dist/: npm run build makes it')
  const wait = Number(/^--wait=(\d+)$/.exec(args.find((arg) => arg.startsWith('--wait=')) ?? '')?.[1] ?? 40)
  const dir = mkdtempSync(join(tmpdir(), 'trinity-overlap-'))
  try {
    await prepare(dir)
    for (const [name, ms] of [
      [`environment that answers after ${wait} ms`, wait],
      ['computation alone', 0],
    ]) {
      console.log(`\n${name}: ${STEPS - 2} steps`)
      printTable(ratioRows(await measure(dir, ms), Object.keys(STYLES)[0]))
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** As `interleave` of the library, with the clock of the run itself. */
async function measure(dir, ms) {
  const times = Object.fromEntries(Object.keys(STYLES).map((style) => [style, []]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, [style, keys]] of Object.entries(STYLES).entries()) {
      times[style].push(await job(dir, keys, ms, `job-${ms}-${round}-${i}`))
    }
  }
  const result = (list) => ({ median: median(list), min: Math.min(...list), times: list })
  return Object.fromEntries(Object.entries(times).map(([style, list]) => [style, result(list)]))
}

async function prepare(dir) {
  mkdirSync(join(dir, 'plugins'))
  await trinity(dir, [
    ...['model', 'new', '--out', 'model', '--layers', '2', '--hidden', '96', '--heads', '4', '--max-positions', '128'],
    ...['--tokenizer', 'chars:0123456789+='],
  ])
  writeFileSync(
    join(dir, 'plugins', 'slow.mjs'),
    `import { setTimeout as sleep } from 'node:timers/promises'
import { workflows } from 'trinity-rft'
workflows.add('slow_workflow', async ({ task, model }) => {
  const experiences = await model.generate(String(task.raw.q), {})
  const ms = Number(process.env.ANSWER_MS)
  if (ms > 0) await sleep(ms)
  for (const one of experiences) one.reward = (one.responseText ?? '').length % 3
  return experiences
})
`,
  )
  const rows = Array.from({ length: 64 }, (_, i) => JSON.stringify({ q: `${i}+${i}=` }))
  writeFileSync(join(dir, 'tasks.jsonl'), `${rows.join('\n')}\n`)
}

/** Milliseconds between the second and the last training step: starting the process does not count. */
async function job(dir, keys, ms, name) {
  writeFileSync(
    join(dir, `${name}.yaml`),
    `project: p
name: ${name}
checkpoint_root_dir: out
algorithm: {algorithm_type: grpo, repeat_times: 8, optimizer: {lr: 1.0e-3}}
model: {model_path: model, max_prompt_tokens: 24, max_response_tokens: 48}
buffer:
  batch_size: 8
  total_steps: ${STEPS}
  explorer_input: {taskset: {path: tasks.jsonl, default_workflow_type: slow_workflow, format: {prompt_key: q}}}
explorer: {eval_interval: 0, eval_on_startup: false, runner_per_model: 16}
synchronizer: ${keys}
monitor: {monitor_type: jsonl}
`,
  )
  await trinity(dir, ['run', '-c', `${name}.yaml`, '--plugin-dir', 'plugins'], { ANSWER_MS: String(ms) })
  const lines = readFileSync(join(dir, 'out', 'p', name, 'monitor', 'trainer.jsonl'), 'utf8')
    .trim()
    .split('\n')
  const times = lines.map((line) => JSON.parse(line).time)
  return 1000 * (times.at(-1) - times[1])
}

function trinity(cwd, args, env = {}) {
  const child = spawn(process.execPath, [cli, ...args], { cwd, env: { ...process.env, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  return new Promise((resolve, reject) => {
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(output))))
  })
}
