// Advantage + loss + metrics + gradient of a million tokens in one call, on one thread, for every algorithm: tokens per
// CPU second against the 5 million that were promised, and time against a hand-written loop that does PPO and nothing else
// (no metrics, no checks). --tokens=N (1 000 000), --rounds=N (4).
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, interleave, loadSources, printTable } from './lib.mjs'

export const title = 'Algorithms: advantage + loss + gradient'
export const about = 'tokens per second of every algorithm, against 5M/s and against a hand-written PPO loop'
export const quick = true

const PROMISED = 5e6
const LENGTH = 500
const GROUP = 8

/** Groups of eight runs, 500 response tokens each, one token in ten not the model's. */
function makeExperiences(createExperience, count) {
  const floats = (scale, shift) => Float32Array.from({ length: LENGTH }, () => shift + scale * Math.random())
  return Array.from({ length: count }, (_, i) =>
    createExperience({
      eid: { batch: 0, task: Math.floor(i / GROUP), run: i % GROUP },
      tokens: new Int32Array(LENGTH + 1),
      promptLength: 1,
      actionMask: Uint8Array.from({ length: LENGTH }, (_, t) => (t % 10 === 9 ? 0 : 1)),
      logprobs: floats(0.5, -1),
      refLogprobs: floats(0.5, -1),
      teacherLogprobs: floats(0.5, -1),
      values: floats(1, 0),
      reward: Math.random(),
      info: { is_expert: i % 4 === 0, is_off_policy: i % 2 === 0 },
      columns: { chosen: i % 2 },
    }),
  )
}

/** Group-normalized PPO, as short as it can be written: the lower bound. */
function handWritten(experiences, logprob) {
  const grad = new Float32Array(logprob.length)
  let tokens = 0
  for (const { actionMask } of experiences) for (let t = 0; t < LENGTH; t++) tokens += actionMask[t]
  let loss = 0
  let at = 0
  for (let start = 0; start < experiences.length; start += GROUP) {
    const group = experiences.slice(start, start + GROUP)
    const mean = group.reduce((sum, e) => sum + e.reward, 0) / GROUP
    const std = Math.sqrt(group.reduce((sum, e) => sum + (e.reward - mean) ** 2, 0) / (GROUP - 1))
    for (const { reward, actionMask, logprobs } of group) {
      const a = (reward - mean) / (std + 1e-6)
      for (let t = 0; t < LENGTH; t++, at++) {
        if (actionMask[t] === 0) continue
        const ratio = Math.exp(logprob[at] - logprobs[t])
        const clipped = Math.min(Math.max(ratio, 0.8), 1.2)
        const [plain, bounded] = [-a * ratio, -a * clipped]
        loss += Math.max(plain, bounded)
        if (plain >= bounded) grad[at] = -(a * ratio) / tokens
      }
    }
  }
  return { loss: loss / tokens, grad }
}

/** One training batch of an algorithm, from experiences to gradient. */
function prepare(lib, name, experiences, scores) {
  const { defaults, schema } = lib.algorithms.get(name)
  const loss = lib.buildLoss(defaults)
  const advantage = defaults.advantage_fn && lib.advantageFns.get(defaults.advantage_fn)
  const args = advantage && lib.advantageFns.parse(defaults.advantage_fn, defaults.advantage_fn_args, 'args')
  return () => {
    const scored = advantage ? advantage.compute(experiences, args, { random: Math.random }).experiences : experiences
    const rows = lib.toRows(scored, loss.columns, { step: 1 })
    const paired = schema === 'dpo' ? rows.map((row, i) => ({ ...row, bundle: String(i >> 1) })) : rows
    return lib.evaluateLoss(loss, paired, loss.norms(paired), scores)
  }
}

/** Writes down the CPU time of every call: others use this machine too, and time spent waiting is not ours. */
function measured(cases) {
  const cpu = {}
  for (const [name, work] of Object.entries(cases)) {
    cpu[name] = []
    cases[name] = () => {
      const before = process.cpuUsage()
      work()
      const { user, system } = process.cpuUsage(before)
      cpu[name].push((user + system) / 1000)
    }
  }
  return cpu
}

export async function run(options = []) {
  const option = (name, fallback) =>
    Number(options.find((given) => given.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback)
  const tokens = option('tokens', 1_000_000)
  const cache = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'bench-'))
  try {
    const lib = await loadSources(folder, ['algorithm/index', 'graph/evaluate', 'experience/create'])
    const count = Math.max(GROUP, Math.round(tokens / LENGTH / GROUP) * GROUP)
    const experiences = makeExperiences(lib.createExperience, count)
    const draw = (scale, shift) => Float32Array.from({ length: count * LENGTH }, () => shift + scale * Math.random())
    const scores = { logprob: draw(0.5, -1), entropy: draw(2, 0) }
    const base = 'hand-written PPO'
    const names = lib.algorithms.names()
    const cases = { [base]: () => handWritten(experiences, scores.logprob) }
    for (const name of names) cases[name] = prepare(lib, name, experiences, scores)
    const cpu = measured(cases)
    const results = await interleave(cases, { rounds: option('rounds', 4), warmup: 1 })
    const speed = (name) => (count * LENGTH) / (Math.min(...cpu[name]) / 1000)
    printTable(
      Object.keys(cases).map((name) => {
        const perSecond = speed(name)
        return {
          algorithm: name,
          'median ms': format(results[name].median),
          'CPU ms': format(Math.min(...cpu[name])),
          'Mtokens/s': format(perSecond / 1e6),
          '× promised 5M/s': format(perSecond / PROMISED),
          'time × hand-written': format(speed(base) / perSecond),
        }
      }),
    )
    const slow = names.filter((name) => speed(name) < PROMISED)
    console.log(slow.length === 0 ? 'all above 5M tokens/s' : `below 5M tokens/s: ${slow.join(', ')}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
