// Kills runs with SIGKILL at random moments and starts them again until they are through, then compares them with a run
// that was never killed: every safetensors file byte by byte, the pointers to them, the experiences in databases, and every
// metric that is not a clock.
//
//   node scripts/kill-test.mjs [--kills 200] [--seed 1] [--case offset0] [--keep] [--cli dist/cli/main.js]
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

const GRPO = 'algorithm: {algorithm_type: grpo, repeat_times: 4, optimizer: {lr: 1.0e-2}}'
const PPO = 'algorithm: {algorithm_type: ppo, repeat_times: 2, optimizer: {lr: 1.0e-2}}'
const SFT = 'algorithm: {algorithm_type: sft, optimizer: {lr: 1.0e-2}}'

/** Configurations: the keys that differ from the common ones. */
export const CASES = {
  offset0: `${GRPO}\nsynchronizer: {sync_offset: 0}\ntrainer: {save_interval: 2}`,
  offset1: `${GRPO}\nsynchronizer: {sync_offset: 1}\ntrainer: {save_interval: 1}`,
  interval2: `${GRPO}\nsynchronizer: {sync_interval: 2}\ntrainer: {save_interval: 1}`,
  critic: `${PPO}\nsynchronizer: {sync_offset: 1}\ntrainer: {save_interval: 2}`,
  sql: `${GRPO}\nsynchronizer: {sync_offset: 1}\ntrainer: {save_interval: 1}`,
  files: `${GRPO}\nsynchronizer: {sync_method: checkpoint, sync_interval: 2}\ntrainer: {save_interval: 1}`,
  lora: `${GRPO}\nsynchronizer: {sync_interval: 2}\ntrainer: {save_interval: 1}`,
  shuffled: `${GRPO}\nsynchronizer: {sync_interval: 2, sync_offset: 1}\ntrainer: {save_interval: 1}`,
  replay: `${GRPO}\nsynchronizer: {sync_offset: 1}\ntrainer: {save_interval: 1}`,
  reuse: `${GRPO}\nsynchronizer: {sync_offset: 1}\ntrainer: {save_interval: 2}`,
  reuse_sql: `${GRPO}\nsynchronizer: {sync_interval: 2, sync_offset: 1}\ntrainer: {save_interval: 1}`,
  stats: `${GRPO}\nsynchronizer: {sync_offset: 1}\ntrainer: {save_interval: 1, max_checkpoints_to_keep: 2}`,
  isolated: `${GRPO}\ntrainer: {save_interval: 2}`,
  supervised: `${SFT}\nmode: train\ntrainer: {save_interval: 1, max_checkpoints_to_keep: 2}`,
  stages: `${GRPO}\ntrainer: {save_interval: 2}`,
  two_processes: `${GRPO}\nsynchronizer: {sync_method: checkpoint, sync_timeout: 60}\ntrainer: {save_interval: 2}`,
  explore: `${GRPO}\nmode: explore\nsynchronizer: {sync_interval: 100}`,
  explore_isolated: `${GRPO}\nmode: explore\nsynchronizer: {sync_interval: 100}`,
  bench: `${GRPO}\nmode: bench\ntrainer: {save_interval: 2}`,
  bench_isolated: `${GRPO}\nmode: bench\ntrainer: {save_interval: 2}`,
}

/** Arguments of the processes of a case that run at the same time. Default: one process without any. */
const SIDES = {
  two_processes: [
    ['--set', 'mode=explore'],
    ['--set', 'mode=train'],
  ],
}

/** Arguments of the run that a case continues. It is not killed. */
const BEFORE = { bench: ['--set', 'mode=both'], bench_isolated: ['--set', 'mode=both'] }

const NOISY = 'priority_fn: decay_limit_randomization, priority_fn_args: {decay: 0.6, use_count_limit: 3, sigma: 1.0}'

const SQL = 'trainer_input: {experience_buffer: {storage_type: sql}}'
const SUPERVISED =
  'trainer_input: {experience_buffer: {path: tasks.jsonl, format: {prompt_type: plaintext, prompt_key: q, response_key: a}}}'

/** The experience buffer of a case, where it is not the usual one. The batch of `replay` does not fit the steps. */
const BUFFERS = {
  sql: SQL,
  replay: 'train_batch_size: 10\n  trainer_input: {experience_buffer: {replay_buffer: {enable: true}}}',
  reuse:
    'trainer_input: {experience_buffer: {replay_buffer: {enable: true, reuse_cooldown_time: 0, priority_fn_args: {decay: 0.6}}}}',
  reuse_sql: `trainer_input: {experience_buffer: {storage_type: sql, replay_buffer: {enable: true, reuse_cooldown_time: 0, ${NOISY}}}}`,
  supervised: `train_batch_size: 4\n  ${SUPERVISED}`,
  two_processes: SQL,
  explore: SQL,
  explore_isolated: SQL,
}

const MONITORS = { stats: 'monitor_type: tensorboard, detailed_stats: true' }

/** Further lines at the end of a case. */
const MORE = {
  stages: `stages:
  - stage_name: sft
    mode: train
    ${SFT}
    buffer: {train_batch_size: 4, total_steps: 3, ${SUPERVISED}}
  - stage_name: rl
    mode: both`,
}

/** A folder with a small model, tasks, a plugin and a file for each case. */
export async function makeBench(dir, { cli, steps = 8 }) {
  mkdirSync(join(dir, 'plugins'), { recursive: true })
  const model = ['model', 'new', '--out', join(dir, 'model'), '--layers', '1', '--hidden', '32', '--heads', '2']
  const made = await start(
    cli,
    [...model, '--tokenizer', 'chars:0123456789+=', '--max-positions', '64', '--seed', '1'],
    dir,
  ).done
  if (made.code !== 0) throw new Error(`the model could not be made: ${made.output}`)
  writeFileSync(
    join(dir, 'plugins', 'count.mjs'),
    `import { workflows } from 'trinity-rft'
import { existsSync } from 'node:fs'
const slow = Number(process.env.KILL_TEST_SLOW_MS ?? 0)
const hold = process.env.KILL_TEST_HOLD
const pause = (ms) => new Promise((done) => setTimeout(done, ms))
workflows.add('count_workflow', async ({ task, model }) => {
  if (slow > 0) await pause(slow * Math.random())
  // from the third weights on, rollouts wait while this file is there: a test has time to do something
  while (hold && model.version >= 3 && existsSync(hold)) await pause(20)
  const experiences = await model.generate(String(task.raw.q), {})
  for (const one of experiences) one.reward = [...(one.responseText ?? '')].filter((c) => c === task.raw.a).length / 8
  return experiences
})
`,
  )
  const rows = Array.from({ length: 24 }, (_, i) => JSON.stringify({ q: `${i}+${i}=`, a: String(i % 10) }))
  writeFileSync(join(dir, 'tasks.jsonl'), `${rows.join('\n')}\n`)
  for (const [name, keys] of Object.entries(CASES)) writeFileSync(join(dir, `${name}.yaml`), yaml(keys, steps, name))
}

function yaml(keys, steps, name) {
  const input = BUFFERS[name] ? `\n  ${BUFFERS[name]}` : ''
  const lora = name === 'lora' ? ', lora_configs: [{lora_rank: 4, lora_alpha: 8}]' : ''
  const selector = name === 'shuffled' ? ', data_selector: {selector_type: shuffle, seed: 3}' : ''
  const runners = name.includes('isolated') ? 'runner_per_model: 2, isolation: process' : 'runner_per_model: 8'
  const set = 'path: tasks.jsonl, default_workflow_type: count_workflow, format: {prompt_key: q, response_key: a}'
  return `project: kill
name: job
${keys}
model: {model_path: model, max_prompt_tokens: 24, max_response_tokens: 8${lora}}
buffer:
  batch_size: 3
  total_steps: ${steps}${input}
  explorer_input:
    taskset: {${set}${selector}}
    eval_tasksets: [{name: held, ${set}}]
explorer: {eval_interval: 4, ${runners}}
monitor: {${MONITORS[name] ?? 'monitor_type: jsonl'}}
${MORE[name] ?? ''}
`
}

/**
 * Starts the processes of a case. `slowMs`: most that a rollout pauses, at random; the result must not depend on it.
 * Returns one entry per process, and the end of all of them.
 */
export function runCase(cli, dir, name, out, { slowMs = 0 } = {}) {
  const sides = sidesOf(name).map((side) => startSide(cli, dir, name, out, side, { KILL_TEST_SLOW_MS: String(slowMs) }))
  const done = Promise.all(sides.map((side) => side.done)).then((ends) => ({
    code: ends.find(({ code }) => code !== 0)?.code ?? ends[0].code,
    signal: ends.find(({ signal }) => signal !== null)?.signal ?? null,
    output: ends.map(({ output }) => output).join('\n'),
  }))
  return { sides, done }
}

/** Arguments of each process of a case. */
export const sidesOf = (name) => SIDES[name] ?? [[]]

/** Starts one process of a case. */
export function startSide(cli, dir, name, out, side, env = {}) {
  const args = ['run', '-c', `${name}.yaml`, '--plugin-dir', 'plugins', '--set', `checkpoint_root_dir=${out}`, ...side]
  return start(cli, args, dir, env)
}

/** Makes the run that a case continues, if there is one. */
export async function prepareCase(cli, dir, name, out) {
  if (!BEFORE[name]) return
  const { code, output } = await startSide(cli, dir, name, out, BEFORE[name]).done
  if (code !== 0) throw new Error(`the run before ${name} failed:\n${output}`)
}

function start(cli, args, cwd, env = {}) {
  const stdio = ['ignore', 'pipe', 'pipe']
  const child = spawn(process.execPath, [cli, ...args], { cwd, stdio, env: { ...process.env, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  const done = new Promise((end) => child.on('close', (code, signal) => end({ code, signal, output })))
  return { child, done }
}

const POINTERS = ['latest_checkpointed_iteration.txt', 'latest_state_dict_iteration.txt']

/** Reads the results of a run: weights and pointers by path; metrics, evaluations and experiences by name. */
export function resultOf(out) {
  const [files, metrics] = [new Map(), {}]
  const top = join(out, 'kill', 'job')
  addJob(top, '', files, metrics)
  for (const entry of readdirSync(top))
    if (existsSync(join(top, entry, 'job.json'))) addJob(join(top, entry), `${entry}/`, files, metrics)
  return { files, metrics }
}

function addJob(job, prefix, files, metrics) {
  const walk = (dir, name) => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name)
      if (entry.isDirectory()) walk(path, `${name}${entry.name}/`)
      else if (entry.name.endsWith('.safetensors')) files.set(`${prefix}${name}${entry.name}`, readFileSync(path))
    }
  }
  for (const entry of readdirSync(job)) if (entry.startsWith('global_step_')) walk(join(job, entry), `${entry}/`)
  for (const name of POINTERS)
    if (existsSync(join(job, name))) files.set(`${prefix}${name}`, readFileSync(join(job, name)))
  for (const file of readdirSync(job, { recursive: true }).filter((one) => /^monitor\/\w+\.jsonl$/.test(one))) {
    const role = file.slice('monitor/'.length, -'.jsonl'.length)
    const lines = readFileSync(join(job, file), 'utf8').split('\n').filter(Boolean)
    for (const { step, metrics: numbers } of lines.map((line) => JSON.parse(line))) {
      for (const [key, value] of Object.entries(numbers))
        if (!CLOCK.test(key)) metrics[`${prefix}${role} ${step} ${key}`] = value
    }
  }
  const kept = readJson(join(job, 'best_eval.json'))
  if (kept) metrics[`${prefix}best`] = `${kept.best.step} ${kept.best.score}`
  for (const { step, tasksets } of readJson(join(job, 'bench', 'results.json'))?.results ?? [])
    for (const [name, { score }] of Object.entries(tasksets)) metrics[`${prefix}bench ${step} ${name}`] = score
  for (const [key, value] of experiencesOf(job)) metrics[`${prefix}${key}`] = value
}

const readJson = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined)

/** Returns the hash and the number of the experiences in each database of a job. */
function experiencesOf(job) {
  const paths = ['experience_buffer', 'explorer_output']
    .map((name) => join(job, 'buffer', `${name}.db`))
    .filter(existsSync)
  if (paths.length === 0) return []
  const Database = createRequire(import.meta.url)('libsql')
  return paths.flatMap((path) => {
    const db = new Database(path, { readonly: true })
    const isBuffer = path.endsWith('experience_buffer.db')
    const table = isBuffer ? 'experience_buffer' : 'pipeline_input'
    const rows = db.prepare(`SELECT * FROM ${table} JOIN ${table}_blob USING (id)`).all()
    db.close()
    return rows.flatMap(({ id, created_at, available_at, experience_bytes, consumed, ready, priority, ...row }) => {
      // the trainer takes rows of the buffer; the state of rows in the history means nothing
      const state = isBuffer ? ` ${consumed} ${ready} ${priority}` : ''
      const key = `${table} ${row.batch_id}/${row.task_id}/${row.run_id}/${row.step_id}/${row.msg_id}`
      const hash = createHash('sha256').update(Buffer.from(experience_bytes)).digest('hex')
      return [[key, `${JSON.stringify(row)} ${hash}${state}`]]
    })
  })
}

/** Numbers that depend on how long something took. */
const CLOCK = /time|perf\/|per_second|lag_ms|timing|sampled_tokens|prefix_cache/

/** Differences in words; none: equal. */
export function differences(expected, found) {
  const list = []
  for (const name of new Set([...expected.files.keys(), ...found.files.keys()])) {
    const [a, b] = [expected.files.get(name), found.files.get(name)]
    if (!a || !b) list.push(`${name} is only in ${a ? 'the whole run' : 'the killed run'}`)
    else if (!a.equals(b)) list.push(`${name} differs`)
  }
  for (const key of new Set([...Object.keys(expected.metrics), ...Object.keys(found.metrics)])) {
    const [a, b] = [expected.metrics[key], found.metrics[key]]
    if (a !== b) list.push(`${key}: ${a} instead became ${b}`)
  }
  return list
}

/** Kills jobs until one was killed: how fast the machine is now may differ from when the whole run was timed. */
export async function killOnce(options) {
  let { seconds } = options
  for (;;) {
    const begun = Date.now()
    const result = await killUntilDone({ ...options, seconds })
    if (result.kills > 0 || result.differences.length > 0) return result
    seconds = Math.min(seconds, (Date.now() - begun) / 1000)
  }
}

/**
 * Kills the processes of one job, one or several at a time, and starts them again until all are through. Returns the number
 * of kills and the differences from the whole run.
 */
export async function killUntilDone({ cli, dir, name, expected, seconds, random, most = Infinity, log = () => {} }) {
  const out = mkdtempSync(join(dir, 'killed-'))
  await prepareCase(cli, dir, name, out)
  let kills = 0
  let limit = seconds
  const running = new Map()
  const finish = async (side) => {
    for (;;) {
      const started = startSide(cli, dir, name, out, side)
      running.set(side, started)
      const { code, signal, output } = await started.done
      running.delete(side)
      if (signal === 'SIGKILL') continue
      if (code !== 0) throw new Error(`after ${kills} kills the run failed in ${out}:\n${output}`)
      return
    }
  }
  const sides = sidesOf(name)
  const finished = Promise.all(sides.map(finish))
  let isDone = false
  const end = () => {
    isDone = true
  }
  finished.then(end, end)
  while (!isDone && kills < most) {
    const before = latestIn(out)
    await Promise.race([sleep(1000 * limit * random()), finished.catch(() => {})])
    const chosen = 1 + Math.floor(random() * (2 ** sides.length - 1))
    const victims = sides.flatMap((side, i) => (chosen & (2 ** i) ? (running.get(side) ?? []) : []))
    for (const { child } of victims) child.kill('SIGKILL')
    const ends = await Promise.all(victims.map(({ done }) => done))
    if (!ends.some(({ signal }) => signal === 'SIGKILL')) continue
    kills++
    // On a busy machine a run takes longer than the whole one did: give it more time when it does not advance.
    if (latestIn(out) === before) limit *= 1.1
    log(`${name}: kill ${kills}`)
  }
  try {
    await finished
  } finally {
    for (const { child } of running.values()) child.kill('SIGKILL')
  }
  const found = differences(expected, resultOf(out))
  if (found.length === 0) rmSync(out, { recursive: true, force: true })
  return { kills, differences: found, out }
}

function latestIn(out) {
  const file = join(out, 'kill', 'job', 'latest_checkpointed_iteration.txt')
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** mulberry32 */
export function seeded(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let x = Math.imul(state ^ (state >>> 15), state | 1)
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }
}

async function main() {
  const option = (name, fallback) => {
    const at = process.argv.indexOf(`--${name}`)
    return at < 0 ? fallback : process.argv[at + 1]
  }
  const wanted = Number(option('kills', 200))
  const cli = resolve(option('cli', join(root, 'dist', 'cli', 'main.js')))
  const random = seeded(Number(option('seed', 1)))
  const names = option('case') ? [option('case')] : Object.keys(CASES)
  const dir = mkdtempSync(join(tmpdir(), 'trinity-kill-'))
  await makeBench(dir, { cli })
  let [kills, jobs, wrong] = [0, 0, 0]
  const whole = new Map()
  for (let turn = 0; kills < wanted; turn++) {
    const name = names[turn % names.length]
    if (!whole.has(name)) {
      const out = join(dir, `whole-${name}`)
      await prepareCase(cli, dir, name, out)
      const begun = Date.now()
      const { code, output } = await runCase(cli, dir, name, out).done
      if (code !== 0) throw new Error(`the run that is not killed failed:\n${output}`)
      whole.set(name, { expected: resultOf(out), seconds: (Date.now() - begun) / 1000 })
    }
    const result = await killOnce({ cli, dir, name, random, most: wanted - kills, ...whole.get(name) })
    kills += result.kills
    jobs++
    if (result.differences.length > 0) wrong++
    const verdict = result.differences.length === 0 ? 'equal' : `DIFFERENT, kept in ${result.out}`
    console.log(`${name}: ${result.kills} kills, ${verdict} (${kills} of ${wanted})`)
    for (const line of result.differences.slice(0, 10)) console.log(`  ${line}`)
  }
  console.log(`${kills} kills, ${jobs} jobs, ${wrong} different`)
  if (wrong === 0 && !process.argv.includes('--keep')) rmSync(dir, { recursive: true, force: true })
  process.exitCode = wrong === 0 ? 0 : 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main()
