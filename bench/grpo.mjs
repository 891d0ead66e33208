// Seconds of a GRPO step by part; with --against torch also TRL's GRPOTrainer on the same model, tasks, batch and
// lengths, interleaved. Styles of synchronization are compared by the benchmark `overlap`.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, median, printTable, watchHost } from './lib.mjs'
import { startPeer } from './peer/peer.mjs'

export const title = 'GRPO end to end'
export const about =
  'seconds per GRPO step by part (--against torch: against TRL; --only=GSM8K|quick|cut, --rounds=5, --from=1)'

const root = fileURLToPath(new URL('..', import.meta.url))
const example = join(root, 'examples/quickstart')
const data = process.env.TRINITY_TEST_DATA ?? ''
const chatModel = join(data, 'models/minimind2_small_hf')
const puzzles = join(example, 'countdown/train.jsonl')
/**
 * `skip` of the `steps` are not counted; of the peer's likewise. `split`: parts in which the peer's batch goes through
 * its model, as it is fastest. Where rewards would be equal (the chat model solves nothing), letters are counted
 * instead: they always differ, and groups of equal rewards cost no backward pass here.
 */
const shapes = [
  {
    // Answers end by themselves, at lengths of their own: what people train on.
    name: 'GSM8K, 26M',
    model: chatModel,
    data: join(data, 'gsm8k/train.jsonl'),
    reward: 'letters',
    tasks: 4,
    answers: 8,
    prompt: 512,
    response: 512,
    lr: 1e-6,
    steps: 1,
    skip: 0,
    peer: { steps: 1, skip: 0, split: 8 },
  },
  {
    // Hardly learning, so that every step is the same work; the compiler of JavaScript needs a while to be done.
    name: 'quick start, 0.35M',
    model: join(example, 'model'),
    data: puzzles,
    reward: 'countdown',
    tasks: 16,
    answers: 8,
    prompt: 64,
    response: 16,
    lr: 1e-7,
    steps: 120,
    skip: 80,
    peer: { steps: 8, skip: 2, split: 1 },
  },
  {
    // Puzzles that it does not understand: nearly every answer is cut off.
    name: 'cut off, 26M',
    model: chatModel,
    data: puzzles,
    reward: 'letters',
    tasks: 4,
    answers: 8,
    prompt: 64,
    response: 64,
    lr: 1e-6,
    steps: 5,
    skip: 2,
    peer: { steps: 2, skip: 1, split: 4 },
  },
]
/** The first steps warm up caches and the compiler of JavaScript. */
const SKIP = 3

/** Runs some steps; gives what its monitors recorded of each that counts, the pace of them all, and when the first began. */
export function trinity(settings, steps, skip = SKIP) {
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
    const started = Date.now() / 1000
    const { status, stderr, stdout } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`trinity run ended with ${status}: ${stdout.slice(-500)} ${stderr.slice(-2000)}`)
    const read = (role) =>
      readFileSync(join(folder, 'quickstart/countdown/monitor', `${role}.jsonl`), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter(({ step }) => step > 0)
    const [explorer, trainer] = [read('explorer'), read('trainer')]
    const counted = trainer.filter(({ step }) => step > skip)
    const begin = skip > 0 ? trainer[skip - 1].time : counted[0].time - counted[0].metrics['time/step']
    const pace = (counted.at(-1).time - begin) / counted.length
    const pairs = counted.map(({ step, metrics }) => [metrics, explorer[step - 1]?.metrics ?? {}])
    return {
      pace,
      first: firstRollouts(explorer[0], started),
      parts: pairs.map(([train, explore]) => partsOf(train, explore)),
      work: pairs.map(([train, explore]) => workOf(train, explore)),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Seconds from the start of the process until the first rollouts begin, and until the first step's are there. */
function firstRollouts({ time, metrics }, started) {
  const took = metrics['explorer/time/wait_explore_step'] + (metrics['experience_pipeline/time/total'] ?? 0)
  return { begun: time - started - took, done: time - started }
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
    longest: train['response_length/max'],
    equal: explore['experience_pipeline/group_advantages/reward_std/zero_ratio'] ?? 0,
  }
}

export async function run(options = []) {
  const value = (name) => options.find((option) => option.startsWith(`--${name}=`))?.slice(name.length + 3)
  const rounds = options.includes('--short') ? 1 : Number(value('rounds') ?? 5)
  const first = Number(value('from') ?? 1)
  for (const shape of shapes.filter(({ name }) => name.includes(value('only') ?? ''))) {
    const missing = [shape.model, shape.data].find((path) => !existsSync(path))
    if (missing) console.log(`\n${shape.name}: skipped, ${missing} is not here`)
    else await measure(shape, first, rounds, options.includes('--against=torch'))
  }
}

async function measure(shape, first, rounds, torch) {
  const { name, model, reward, tasks, answers, response, lr } = shape
  const peer = torch ? startPeer('grpo_trl.py') : undefined
  const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-tasks-'))
  const wish = { cmd: 'run', tasks_per_step: tasks, answers, lr, reward }
  const fixed = {
    'model.model_path': model,
    'model.max_prompt_tokens': shape.prompt,
    'model.max_response_tokens': response,
    'buffer.batch_size': tasks,
    'buffer.explorer_input.taskset.data_selector.selector_type': 'sequential',
    'algorithm.repeat_times': answers,
    'algorithm.optimizer.lr': lr,
    // What the quick start sets for its own reward and its tiny model, as anybody else would have it.
    ...(model === chatModel && {
      'buffer.explorer_input.default_reward_fn_type': reward,
      'trainer.max_token_len_per_gpu': 'null',
    }),
  }
  const own = new Runs()
  const theirs = []
  let against = ''
  try {
    if (peer) {
      const { torch: version, trl } = await peer.call({ cmd: 'open', model })
      against = `TRL ${trl}, PyTorch ${version}`
      const { file } = questions(shape, 0, folder)
      await peer.call({ ...wish, ...shape.peer, tasks: file, response: Math.min(response, 32), steps: 1, skip: 0 })
    }
    for (let round = first; round < first + rounds; round++) {
      const asked = questions(shape, round, folder)
      const settings = { ...fixed, 'buffer.explorer_input.taskset.path': asked.folder }
      const taken = { here: [], TRL: [] }
      const paces = []
      // Before and after the peer: a machine that becomes slower or faster meanwhile is so for both.
      for (const turn of peer ? ['here', 'TRL', 'here'] : ['here']) {
        const stolen = watchHost()
        if (turn === 'here') paces.push(own.add(trinity(settings, shape.steps, shape.skip)))
        else theirs.push(await peer.call({ ...wish, ...shape.peer, tasks: asked.file, response }))
        taken[turn].push(stolen())
      }
      own.paces.push(mean(paces))
      const ratio = peer ? `, × ${format(median(theirs.at(-1).seconds) / own.paces.at(-1))}` : ''
      console.log(
        `${name}, round ${round}: ${paces.map((pace) => format(1000 * pace)).join(' and ')} ms a step${ratio}`,
      )
      for (const [side, shares] of Object.entries(taken)) {
        if (shares.length > 0) console.log(`  taken by the host, ${side}: ${shares.map(percent).join(' and ')}`)
      }
    }
  } finally {
    peer?.close()
    rmSync(folder, { recursive: true, force: true })
  }
  console.log(`\n${name}: ${tasks} tasks × ${answers} answers of at most ${response} tokens, one gradient`)
  report(own.parts)
  if (theirs.length === 0) return
  console.log(`${against}, the same work`)
  reportPeer(theirs)
  reportWork(own.work, theirs)
  const faster = median(theirs.map(({ seconds }, i) => median(seconds) / own.paces[i]))
  console.log(`× ${format(faster)} (target ≥ 5 ${faster >= 5 ? 'met' : 'MISSED'})`)
}

/** What several runs of ours have measured. */
class Runs {
  paces = []
  parts = []
  work = []

  add({ pace, parts, work }) {
    this.parts.push(...parts)
    this.work.push(...work)
    return pace
  }
}

function percent(share) {
  return share === undefined ? '?' : `${format(100 * share)} %`
}

/** The tasks of a round, the same for both sides and other ones in every round. */
function questions({ data, tasks, steps }, round, folder) {
  const lines = readFileSync(data, 'utf8').trim().split('\n')
  const count = tasks * steps
  const at = (round * count) % Math.max(1, lines.length - count)
  const own = join(folder, String(round))
  mkdirSync(own)
  const file = join(own, 'train.jsonl')
  writeFileSync(file, `${lines.slice(at, at + count).join('\n')}\n`)
  return { folder: own, file }
}

/** Tokens of both sides, to show that the work was the same. */
export function reportWork(own, theirs) {
  const names = {
    prompt: 'prompt tokens',
    sampled: 'sampled tokens',
    longest: 'longest answer',
    equal: 'share without gradient',
  }
  printTable(
    Object.entries(names).map(([what, text]) => ({
      'per step': text,
      here: format(mean(own.map((one) => one[what]))),
      TRL: format(mean(theirs.flatMap((one) => one[what]))),
    })),
  )
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function reportPeer(runs) {
  const all = (name) => runs.flatMap((one) => one[name])
  const [step, generate, forward] = [all('seconds'), all('generate'), all('forward')]
  const parts = {
    generate,
    forward,
    'backward and optimizer': step.map((seconds, i) => seconds - generate[i] - forward[i]),
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
