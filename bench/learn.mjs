// Whether GRPO learns as with TRL's GRPOTrainer: the same model, puzzles, order, batches and settings, several seeds, one thread each.
// --engine=torch: the torch engine instead of the native one, TRL on the GPU too if there is one. --together: all runs at once,
// where there are processors enough; rewards are the same, times mean nothing then.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, median, printTable } from './lib.mjs'
import { startPeer } from './peer/peer.mjs'

export const title = 'Learning as with TRL'
export const about =
  'rewards of GRPO here and with TRL, and processor time (--seeds=3, --steps=80, --engine=torch, --together, --out=FOLDER keeps the curves)'

const root = fileURLToPath(new URL('..', import.meta.url))
const cli = join(root, 'dist/cli/main.js')
const example = join(root, 'examples/quickstart')
const TASKS = 16
const ANSWERS = 8
const RESPONSE = 16
const LR = 2e-4
const REWARD = 'rollout/reward/mean'
const RIGHT = 'eval/held-out/accuracy/mean@1'

export async function run(options = []) {
  const value = (name, otherwise) =>
    options.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise
  const [seeds, steps] = [Number(value('seeds', 3)), Number(value('steps', 80))]
  const kept = value('out')
  const folder = kept ? resolve(kept) : mkdtempSync(join(tmpdir(), 'trinity-bench-learn-'))
  const engine = value('engine', 'native')
  const runs = { here: [], TRL: [] }
  try {
    let versions = ''
    const one = async (seed) => {
      const tasks = shuffled(join(folder, `tasks-${seed}`), seed, TASKS * steps)
      const own = () => here(folder, tasks, seed, steps, engine)
      const theirs = () => trl(folder, tasks, seed, steps, engine)
      const [ours, peer] = options.includes('--together')
        ? await Promise.all([own(), theirs()])
        : [await own(), await theirs()]
      versions = peer.versions
      runs.here[seed - 1] = ours
      runs.TRL[seed - 1] = peer
      const last = (rewards) => format(mean(rewards.slice(-10)))
      console.log(
        `seed ${seed}: ${format(ours.cpu)} s here, ${format(peer.cpu)} s with TRL; reward of the last 10 steps ` +
          `${last(ours.rewards)} here, ${last(peer.rewards)} with TRL`,
      )
    }
    const all = Array.from({ length: seeds }, (_, i) => i + 1)
    if (options.includes('--together')) {
      // one that fails does not take the others with it
      const failed = (await Promise.allSettled(all.map(one))).flatMap(({ reason }) => reason ?? [])
      for (const error of failed) console.log(error.message)
      if (failed.length === seeds) throw failed[0]
    } else for (const seed of all) await one(seed)
    runs.here = runs.here.filter(Boolean)
    runs.TRL = runs.TRL.filter(Boolean)
    console.log(`\n${TASKS} puzzles × ${ANSWERS} answers, ${steps} steps, rate ${LR}; ${engine} engine; ${versions}`)
    report(runs, steps, engine)
    if (kept) chart(folder, seeds)
  } finally {
    if (!kept) rmSync(folder, { recursive: true, force: true })
  }
}

async function trl(folder, tasks, seed, steps, engine) {
  const peer = startPeer('grpo_trl.py')
  try {
    const opened = await peer.call({ cmd: 'open', model: join(example, 'model'), threads: 1 })
    const found = await peer.call({
      cmd: 'run',
      ...{ tasks: join(tasks, 'train.jsonl'), tasks_per_step: TASKS, answers: ANSWERS, response: RESPONSE, lr: LR },
      ...{ steps, skip: 0, seed, test: join(example, 'countdown/test.jsonl') },
      // as here: weights in float32, products in bfloat16
      ...(engine === 'torch' && opened.cuda && { settings: { bf16: true } }),
    })
    keep(join(folder, `learn/TRL-${seed}`), found.rewards)
    const versions = `TRL ${opened.trl}, PyTorch ${opened.torch}${opened.cuda ? ' with CUDA' : ''}`
    return { rewards: found.rewards, right: found.right, cpu: found.cpu, step: median(found.seconds), versions }
  } finally {
    await peer.close()
  }
}

/** The puzzles of a run in the order of its seed, the same for both. */
function shuffled(folder, seed, count) {
  const lines = readFileSync(join(example, 'countdown/train.jsonl'), 'utf8').trim().split('\n')
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const drawn = lines.map((line) => [next(), line]).sort(([a], [b]) => a - b)
  mkdirSync(folder, { recursive: true })
  const text = drawn.slice(0, count).map(([, line]) => `${line}\n`)
  writeFileSync(join(folder, 'train.jsonl'), text.join(''))
  return folder
}

async function here(folder, tasks, seed, steps, engine) {
  const settings = {
    checkpoint_root_dir: folder,
    project: 'learn',
    name: `Trinity-${seed}`,
    'buffer.total_steps': steps,
    'buffer.total_tokens': 'null',
    'buffer.batch_size': TASKS,
    'buffer.explorer_input.taskset.path': tasks,
    'buffer.explorer_input.taskset.data_selector.selector_type': 'sequential',
    'algorithm.repeat_times': ANSWERS,
    'algorithm.optimizer.lr': LR,
    'model.max_response_tokens': RESPONSE,
    'explorer.rollout_model.seed': seed,
    'explorer.eval_interval': steps,
    'synchronizer.sync_interval': 1,
    ...(engine === 'torch' && {
      mode: 'colocate',
      'trainer.trainer_type': 'torch',
      'explorer.rollout_model.engine_type': 'torch',
    }),
  }
  const args = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const config = join(root, 'examples/algorithms/countdown.yaml')
  const command = ['-c', 'time "$@" >&2', 'bash', process.execPath, cli, 'run', '--config', config, ...args]
  const env = { ...process.env, TRINITY_NATIVE_THREADS: '1', LC_ALL: 'C', TIMEFORMAT: 'cpu %U %S' }
  const { status, stderr } = await ended(spawn('bash', command, { env, stdio: ['ignore', 'ignore', 'pipe'] }))
  if (status !== 0) throw new Error(`trinity run ended with ${status}: ${stderr.slice(-2000)}`)
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)/.exec(stderr)
  const all = readLines(join(folder, `learn/Trinity-${seed}/monitor/explorer.jsonl`))
  const rewards = all.flatMap(({ metrics }) => metrics[REWARD] ?? [])
  const rights = all.flatMap(({ metrics }) => metrics[RIGHT] ?? [])
  const trained = readLines(join(folder, `learn/Trinity-${seed}/monitor/trainer.jsonl`)).map(({ time }) => time)
  const step = median(trained.slice(1).map((time, i) => time - trained[i]))
  return { rewards, right: rights.at(-1), before: rights[0], cpu: Number(user) + Number(system), step }
}

function ended(child) {
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (status) => resolve({ status, stderr }))
  })
}

function readLines(file) {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** As a run of ours leaves it, for `trinity plot`. */
function keep(folder, rewards) {
  mkdirSync(join(folder, 'monitor'), { recursive: true })
  const lines = rewards.map((reward, i) => JSON.stringify({ step: i + 1, time: i, metrics: { [REWARD]: reward } }))
  writeFileSync(join(folder, 'monitor/explorer.jsonl'), `${lines.join('\n')}\n`)
}

function chart(folder, seeds) {
  const arm = (name) =>
    `${name}=${Array.from({ length: seeds }, (_, i) => join(folder, `learn/${name}-${i + 1}`)).join(',')}`
  const out = join(folder, 'learn.svg')
  spawnSync(process.execPath, [cli, 'plot', arm('Trinity'), arm('TRL'), '--key', REWARD, '-o', out], {
    stdio: 'inherit',
  })
}

function report({ here, TRL }, steps, engine) {
  const quarter = Math.floor(steps / 4)
  const parts = [0, 1, 2, 3].map((i) => [i * quarter, i === 3 ? steps : (i + 1) * quarter])
  const row = (what, of) => ({ what, here: spread(here.map(of)), TRL: spread(TRL.map(of)) })
  printTable([
    ...parts.map(([from, to]) =>
      row(`reward, steps ${from + 1} to ${to}`, ({ rewards }) => mean(rewards.slice(from, to))),
    ),
    row('held-out right after', ({ right }) => right),
    row('seconds of a step, median', ({ step }) => step),
    // ours: the whole process, with its start, two evaluations and the checkpoint, without workers in Python; TRL's: the training alone
    row('processor seconds', ({ cpu }) => cpu),
  ])
  console.log(`held-out right before: ${spread(here.map(({ before }) => before))}`)
  // where both compute on a GPU, or start workers, processor time says little
  if (engine === 'native')
    console.log(
      `× ${format(mean(TRL.map(({ cpu }) => cpu)) / mean(here.map(({ cpu }) => cpu)))} less processor time here`,
    )
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function spread(values) {
  const middle = mean(values)
  const variance = values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / Math.max(1, values.length - 1)
  return `${middle.toFixed(3)} ± ${Math.sqrt(variance).toFixed(3)}`
}
