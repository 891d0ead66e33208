// Seconds of a GRPO step of the quick start by part; with --against torch also TRL's GRPOTrainer on the same model,
// tasks, batch and lengths, interleaved. Styles of synchronisation are compared by the benchmark `overlap`.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, median, printTable } from './lib.mjs'
import { startPeer } from './peer/peer.mjs'

export const title = 'GRPO end to end: the quick start'
export const about =
  'seconds per GRPO step by part (--against torch: against TRL; --only=quick, --only=chat, --rounds=5)'

const root = fileURLToPath(new URL('..', import.meta.url))
const example = join(root, 'examples/quickstart')
const real = fileURLToPath(new URL('../../shared/data/models/minimind2_small_hf', import.meta.url))
/** The quick start as it is; and a chat model with a real vocabulary on the same puzzles, where it is present. */
const shapes = [
  {
    name: 'quick start, 0.35M',
    model: join(example, 'model'),
    reward: 'countdown',
    tasks: 16,
    answers: 8,
    response: 16,
    lr: 2e-4,
    steps: 24,
    peerSteps: 4,
  },
  {
    name: 'chat model, 26M',
    model: real,
    // It solves no puzzle, and groups of equal rewards cost no backward pass here: letters always differ.
    reward: 'letters',
    tasks: 4,
    answers: 8,
    response: 64,
    lr: 1e-6,
    steps: 5,
    peerSteps: 2,
  },
]
/** The first steps warm up caches and the compiler of JavaScript. */
const SKIP = 3

/** Runs the quick start for some steps; gives what its monitors recorded of each step, and the pace of the whole. */
export function trinity(settings, steps) {
  const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
  const set = {
    'buffer.total_steps': steps,
    'buffer.explorer_input.eval_tasksets': '[]',
    'explorer.eval_interval': 0,
    'explorer.eval_on_startup': false,
    'trainer.save_interval': 0,
    'monitor.monitor_type': 'jsonl',
    ...settings,
  }
  try {
    const args = [join(root, 'dist/cli/main.js'), 'run', '-c', join(example, 'quickstart.yaml')]
    args.push('--plugin-dir', join(root, 'bench/plugin'))
    for (const [key, value] of Object.entries(set)) args.push('--set', `${key}=${value}`)
    const env = { ...process.env, TRINITY_CHECKPOINT_ROOT_DIR: folder }
    const { status, stderr, stdout } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`trinity run ended with ${status}: ${stdout.slice(-500)} ${stderr.slice(-2000)}`)
    const read = (role) =>
      readFileSync(join(folder, 'quickstart/countdown/monitor', `${role}.jsonl`), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter(({ step }) => step > 0)
    const [explorer, trainer] = [read('explorer'), read('trainer')]
    const later = trainer.filter(({ step }) => step >= SKIP)
    const pace = (later.at(-1).time - later[0].time) / (later.length - 1)
    const steps = later.slice(1).map(({ step, metrics }) => [metrics, explorer[step - 1]?.metrics ?? {}])
    return {
      pace,
      parts: steps.map(([train, explore]) => partsOf(train, explore)),
      work: steps.map(([train, explore]) => workOf(train, explore)),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function partsOf(train, explore) {
  const pipeline = explore['experience_pipeline/time/total'] ?? 0
  const advantage = (explore['experience_pipeline/time/operator/0_advantage'] ?? 0) + (train['time/adv'] ?? 0)
  const seconds = {
    // What the trainer waits for, less what happens between the rollouts and it.
    rollout: Math.max(0, train['time/read_experience'] - pipeline),
    advantage,
    train: train['time/update_actor'],
    sync: train['time/sync_weight'],
    // Experiences on their way to disk, so that a kill loses none.
    write: explore['experience_pipeline/time/write'] ?? 0,
  }
  const known = Object.values(seconds).reduce((sum, part) => sum + part, 0)
  return { ...seconds, other: Math.max(0, train['time/step'] - known), step: train['time/step'] }
}

/** The same counts as the peer gives: tokens of the prompts and of the answers, share of groups without a gradient. */
function workOf(train, explore) {
  const rows = train['sample/experience_count']
  return {
    prompt: rows * train['prompt_length/mean'],
    sampled: rows * train['response_length/mean'],
    equal: explore['experience_pipeline/group_advantages/reward_std/zero_ratio'] ?? 0,
  }
}

export async function run(options = []) {
  const value = (name) => options.find((option) => option.startsWith(`--${name}=`))?.slice(name.length + 3)
  const rounds = options.includes('--short') ? 1 : Number(value('rounds') ?? 5)
  for (const shape of shapes.filter(({ name }) => name.includes(value('only') ?? ''))) {
    if (existsSync(shape.model)) await measure(shape, rounds, options.includes('--against=torch'))
    else console.log(`\n${shape.name}: skipped, ${shape.model} is not here`)
  }
}

async function measure({ name, model, reward, tasks, answers, response, lr, steps, peerSteps }, rounds, torch) {
  const peer = torch ? startPeer('grpo_trl.py') : undefined
  const wish = { cmd: 'run', tasks_per_step: tasks, answers, response, lr, reward }
  const fixed = {
    'model.model_path': model,
    'model.max_prompt_tokens': 64,
    'model.max_response_tokens': response,
    'buffer.batch_size': tasks,
    'algorithm.repeat_times': answers,
    'algorithm.optimizer.lr': lr,
    ...(reward === 'letters' && { 'buffer.explorer_input.default_reward_fn_type': 'letters' }),
  }
  const own = { paces: [], parts: [], work: [] }
  const theirs = []
  let against = ''
  try {
    if (peer) {
      const data = join(example, 'countdown/train.jsonl')
      const { torch: version, trl } = await peer.call({ cmd: 'open', model, tasks: data })
      against = `TRL ${trl}, PyTorch ${version}`
      await peer.call({ ...wish, steps: 1 })
    }
    for (let round = 0; round < rounds; round++) {
      const { pace, parts, work } = trinity(fixed, steps)
      own.paces.push(pace)
      own.parts.push(...parts)
      own.work.push(...work)
      if (peer) theirs.push(await peer.call({ ...wish, steps: peerSteps }))
    }
  } finally {
    peer?.close()
  }
  console.log(`\n${name}: ${tasks} tasks × ${answers} answers of at most ${response} tokens, one gradient`)
  report(own.parts)
  if (theirs.length === 0) return
  console.log(`${against}, the same work`)
  reportPeer(theirs)
  const all = (name) => theirs.flatMap((one) => one[name])
  const mine = (name) => own.work.map((one) => one[name])
  printTable(
    ['prompt', 'sampled', 'equal'].map((what) => ({
      'per step': { prompt: 'prompt tokens', sampled: 'sampled tokens', equal: 'share without gradient' }[what],
      here: format(median(mine(what))),
      TRL: format(median(all(what))),
    })),
  )
  const faster = median(theirs.map(({ seconds }, i) => median(seconds) / own.paces[i]))
  console.log(`× ${format(faster)} (target ≥ 5 ${faster >= 5 ? 'met' : 'MISSED'})`)
}

function reportPeer(runs) {
  const all = (name) => runs.flatMap((one) => one[name])
  const [step, generate, forward] = [all('seconds'), all('generate'), all('forward')]
  const parts = {
    generate,
    forward,
    'backward and optimiser': step.map((seconds, i) => seconds - generate[i] - forward[i]),
  }
  printTable(
    Object.entries(parts).map(([part, seconds]) => ({
      part,
      ms: format(1000 * median(seconds)),
      '% of the step': format(median(seconds.map((one, i) => (100 * one) / step[i]))),
    })),
  )
  console.log(`whole step ${format(1000 * median(step))} ms`)
}

function report(parts) {
  const names = Object.keys(parts[0]).filter((part) => part !== 'step')
  printTable(
    names.map((part) => {
      const share = median(parts.map((one) => (100 * one[part]) / one.step))
      const target = part === 'other' ? `≤ 5 ${share <= 5 ? 'met' : 'MISSED'}` : ''
      return { part, ms: format(1000 * median(parts.map((one) => one[part]))), '% of the step': format(share), target }
    }),
  )
  console.log(`whole step ${format(1000 * median(parts.map(({ step }) => step)))} ms`)
}
