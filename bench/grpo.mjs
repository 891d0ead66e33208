// Seconds of a GRPO step of the quick start, by part and by style of synchronisation; with --against torch also TRL's
// GRPOTrainer on the same model, tasks, batch and lengths, interleaved.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, median, printTable } from './lib.mjs'
import { startPeer } from './peer/peer.mjs'

export const title = 'GRPO end to end: the quick start'
export const about = 'seconds per GRPO step by part and by style of synchronisation (--against torch: against TRL)'

const root = fileURLToPath(new URL('..', import.meta.url))
const example = join(root, 'examples/quickstart')
const [TASKS, ANSWERS, RESPONSE, LR] = [16, 8, 16, 3e-4]
/** The first steps warm up caches and the compiler of JavaScript. */
const SKIP = 3

const styles = {
  'in step': {},
  'offset 1': { 'synchronizer.sync_offset': 1 },
  'fully async': { 'synchronizer.sync_style': 'fully_async', 'synchronizer.sync_interval': 1 },
}

/** Runs the quick start for some steps; gives what its monitors recorded of each step, and the pace of the whole. */
function trinity(settings, steps) {
  const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
  const set = {
    'buffer.total_steps': steps,
    'explorer.eval_interval': 0,
    'explorer.eval_on_startup': false,
    'trainer.save_interval': 0,
    'monitor.monitor_type': 'jsonl',
    ...settings,
  }
  try {
    const args = [join(root, 'dist/cli/main.js'), 'run', '-c', join(example, 'quickstart.yaml')]
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
    return {
      pace,
      parts: later.slice(1).map(({ step, metrics }) => partsOf(metrics, explorer[step - 1]?.metrics ?? {})),
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
  }
  const known = Object.values(seconds).reduce((sum, part) => sum + part, 0)
  return { ...seconds, other: Math.max(0, train['time/step'] - known), step: train['time/step'] }
}

export async function run(options = []) {
  const steps = options.includes('--short') ? 8 : 24
  const rounds = options.includes('--short') ? 1 : 5
  const torch = options.includes('--against=torch')
  const peer = torch ? startPeer('grpo_trl.py') : undefined
  const shape = { tasks_per_step: TASKS, answers: ANSWERS, response: RESPONSE, lr: LR }
  const paces = Object.fromEntries(Object.keys(styles).map((name) => [name, []]))
  const parts = []
  const theirs = []
  try {
    if (peer) {
      const data = join(example, 'countdown/train.jsonl')
      const { torch: version, trl } = await peer.call({ cmd: 'open', model: join(example, 'model'), tasks: data })
      console.log(`against TRL ${trl}, PyTorch ${version}`)
      await peer.call({ cmd: 'run', ...shape, steps: 1 })
    }
    for (let round = 0; round < rounds; round++) {
      const fixed = { 'buffer.batch_size': TASKS, 'algorithm.repeat_times': ANSWERS, 'algorithm.optimizer.lr': LR }
      for (const [name, settings] of Object.entries(styles)) {
        const { pace, parts: own } = trinity({ ...fixed, ...settings }, steps)
        paces[name].push(pace)
        if (name === 'in step') parts.push(...own)
      }
      if (peer) theirs.push(median((await peer.call({ cmd: 'run', ...shape, steps: 4 })).seconds))
    }
  } finally {
    peer?.close()
  }
  const total = median(parts.map(({ step }) => step))
  const names = Object.keys(parts[0]).filter((name) => name !== 'step')
  console.log(`\nOne step: ${TASKS} tasks × ${ANSWERS} answers of at most ${RESPONSE} tokens, one gradient`)
  printTable(
    names.map((name) => {
      const share = median(parts.map((one) => (100 * one[name]) / one.step))
      const target = name === 'other' ? `≤ 5 ${share <= 5 ? 'met' : 'MISSED'}` : ''
      return {
        part: name,
        ms: format(1000 * median(parts.map((one) => one[name]))),
        '% of the step': format(share),
        target,
      }
    }),
  )
  console.log(`whole step ${format(1000 * total)} ms\n`)
  printTable(
    Object.entries(paces).map(([name, seconds]) => ({
      synchronisation: name,
      's/step': format(median(seconds)),
      '× in step': format(median(seconds.map((one, i) => one / paces['in step'][i]))),
    })),
  )
  if (!peer) return
  const faster = median(theirs.map((seconds, i) => seconds / paces['in step'][i]))
  console.log(
    `\nTRL ${format(median(theirs))} s/step: × ${format(faster)} (target ≥ 5 ${faster >= 5 ? 'met' : 'MISSED'})`,
  )
}
