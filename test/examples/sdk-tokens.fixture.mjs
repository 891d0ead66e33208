// Lets every agent of some files work on tasks with a sampler that writes down what it sampled, and compares the experiences
// with that, token by token. Run by a Node that the SDKs like; prints a line of JSON for each agent.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [dist, model, tasks, ...files] = process.argv.slice(2)
const load = (path) => import(pathToFileURL(join(dist, path)).href)
const { NativeEngine } = await load('engine.js')
const { loadPlugins } = await load('plugin.js')
const { workflows, RolloutModel, openModelText, AuxiliaryModels, deriveSeed } = await load('workflow/index.js')
const { Pcg64 } = await load('index.js')

const rows = readFileSync(tasks, 'utf8')
  .trim()
  .split('\n')
  .slice(0, 12)
  .map((line) => JSON.parse(line))
const engine = new NativeEngine()
const sampler = await engine.openSample({ path: model }, { seq: 1, deadlineMs: 60_000 })
const text = await openModelText(model)
const silent = { debug() {}, info() {}, warn() {}, error() {} }

async function rollOut(name, row, run) {
  const calls = []
  const recording = new Proxy(sampler, {
    get(target, key) {
      const value = target[key]
      if (key !== 'sample') return typeof value === 'function' ? value.bind(target) : value
      return async (request, ...rest) => {
        const samples = await target.sample(request, ...rest)
        calls.push(...samples.map((sample) => ({ prompt: request.prompt, ...sample })))
        return samples
      }
    },
  })
  const limits = { maxModelLen: 128, truncatePrompts: true }
  const seedOf = (call) => deriveSeed(7, run, call)
  const rollout = new RolloutModel({ sampler: recording, text, limits, seedOf, deadlineMs: 60_000 })
  const task = {
    ...{ raw: row, workflow: name, truth: row.truth, repeatTimes: 1, format: {}, rolloutArgs: {} },
    ...{ workflowArgs: {}, rewardFnArgs: {}, isEval: false, index: { taskset: 0, row: run } },
  }
  const { signal } = new AbortController()
  const context = {
    task,
    model: rollout,
    auxiliary: new AuxiliaryModels(),
    logger: silent,
    random: new Pcg64(1),
    signal,
  }
  const experiences = await workflows.get(name)({ ...context, run: 0, repeat: 1 })
  return { calls, experiences, divergences: rollout.stats.divergences }
}

/** What does not fit: nothing, if all is as it was sampled. */
function faults({ calls, experiences, divergences }) {
  if (experiences.length !== 1) return `${experiences.length} sequences`
  if (divergences > 0) return `${divergences} divergences`
  const [{ tokens, promptLength, actionMask, logprobs }] = experiences
  const mask = new Uint8Array(tokens.length)
  mask.set(actionMask, promptLength)
  const wanted = new Uint8Array(tokens.length)
  for (const call of calls) {
    const at = call.prompt.length
    if (call.prompt.some((token, i) => tokens[i] !== token)) return 'a prompt is not what comes before its answer'
    if (call.tokens.some((token, i) => tokens[at + i] !== token)) return 'other tokens than were sampled'
    if (call.logprobs.some((one, i) => logprobs[at - promptLength + i] !== one)) return 'other log-probs'
    // where a format left no choice, the model wrote nothing of its own
    for (let i = 0; i < call.tokens.length; i++) wanted[at + i] = call.drawnLogprobs?.[i] >= Math.log(0.999) ? 0 : 1
  }
  return mask.some((one, i) => one !== wanted[i]) ? 'the mask is not what the model wrote' : ''
}

for (const file of files) {
  const before = new Set(workflows.names())
  await loadPlugins([file])
  for (const name of workflows.names().filter((one) => !before.has(one))) {
    const rolled = await Promise.all(rows.map((row, i) => rollOut(name, row, i)))
    const turns = rolled.map(({ calls }) => calls.length)
    const found = [...new Set(rolled.map(faults).filter(Boolean))]
    const said = rolled.map(({ experiences }) => experiences.map(({ tokens }) => [...tokens].join(' ')))
    console.log(JSON.stringify({ name, faults: found, calls: turns.reduce((a, b) => a + b, 0), said }))
  }
}
process.exit(0)
