// What explorer.isolation costs: the same rollouts in the explorer's event loop, in threads and in processes, on the native
// engine with a model of the quick start's size, and on the mock engine, whose answers cost next to nothing. Processor time of
// this process and its workers, without their start. Needs a build (npm run build).
// --rollouts=N of a round (300), --workers=N (4), --turns=N (4), --tokens=N of an answer (32), --rounds=N (5).
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { format, median, printTable } from './lib.mjs'

export const title = 'Isolation: workflows in workers'
export const about = 'processor time of the explorer with workflows in threads and processes'

const KINDS = ['none', 'thread', 'process']
/** Clock ticks of /proc, in ms. */
const TICK_MS = 10
const CHARACTERS = 'abcdefghijklmnopqrstuvwxyzWY.,?! '
const TEMPLATE =
  "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|eos|>' }}{% endfor %}{{ '<|assistant|>' }}"

const plugin = ({ turns, tokens }) => `
import { workflows } from 'trinity-rft'
workflows.add('bench_isolation', async ({ model }) => {
  const messages = []
  for (let turn = 0; turn < ${turns}; turn++) {
    messages.push({ role: 'user', content: 'What do you do next? You see a door, a lamp and a table. ' })
    const [answer] = await model.chat(messages, { max_tokens: ${tokens}, ignore_eos: true })
    messages.push({ role: 'assistant', content: answer.responseText })
  }
  return model.toExperiences().map((experience) => ({ ...experience, reward: 1 }))
})
`

/** Milliseconds of processor time, children included. */
function cpuMs() {
  const { user, system } = process.cpuUsage()
  const children = readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
  )
  const ticks = children.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return Number(fields[11]) + Number(fields[12])
  })
  return (user + system) / 1000 + ticks.reduce((sum, one) => sum + one, 0) * TICK_MS
}

async function load() {
  const from = (file) => import(new URL(`../dist/${file}.js`, import.meta.url).href)
  const files = [
    'explorer/scheduler',
    'explorer/timeout',
    'explorer/isolation/workplace',
    'engine/mock/engine',
    'engine/native/engine',
  ]
  const more = ['model/index', 'config/index', 'workflow/text', 'plugin']
  return Object.assign({}, ...(await Promise.all([...files, ...more].map(from))))
}

/** A model and a plugin that all measurements share: a folder of plugins stays known until the process ends. */
async function prepare(api, dir, size) {
  const model = join(dir, 'model')
  const tokenizer = { kind: 'chars', characters: CHARACTERS }
  await api.createModel({
    out: model,
    layers: 3,
    hidden: 96,
    heads: 4,
    maxPositions: 4096,
    tokenizer,
    chatTemplate: TEMPLATE,
  })
  writeFileSync(join(dir, 'talk.mjs'), plugin(size))
  await api.loadPlugins([dir])
  return { api, dir, model, text: await api.openModelText(model) }
}

async function measure(kind, { api, dir, model, text }, { rollouts, workers, rounds }) {
  const places = []
  try {
    const { vocabSize, eosId } = text.tokenizer
    const engine =
      kind === 'mock' ? new api.MockEngine({ vocabSize, eos: eosId, maxModelLen: 4096 }) : new api.NativeEngine()
    const sampler = await engine.openSample({ path: model }, { seq: 1, deadlineMs: 60_000 })
    const silent = { debug() {}, info() {}, warn() {}, error() {} }
    const schedulers = KINDS.map((isolation) => {
      const yaml = `explorer: {isolation: ${isolation}, rollout_model: {max_model_len: 4096}}`
      const { config } = api.parseConfig(yaml, 'bench.yaml', { env: {}, cwd: dir }).stages[0]
      const workplace = api.workplaceOf({ config, model: [sampler], text }, () => silent)
      places.push(workplace)
      return new api.RolloutScheduler(workers, {
        workplace,
        timeout: new api.AttemptTimeout({ max_timeout: 600, dynamic_timeout: { enable: false } }),
        retries: 0,
        backoffMs: 1,
        graceMs: 10,
        concurrent: false,
        seed: 1,
        loggerOf: () => silent,
      })
    })
    const empty = { format: {}, rolloutArgs: {}, workflowArgs: {}, rewardFnArgs: {}, isEval: false }
    const task = { raw: {}, workflow: 'bench_isolation', repeatTimes: 1, index: { taskset: 0, row: 0 }, ...empty }
    let order = 0
    const explore = async (scheduler, count) => {
      const tasks = Array.from({ length: count }, () => task)
      const { tasks: done } = await scheduler.submit({ id: ++order, order, kind: 'train', tasks }).done
      const failed = done.flatMap(({ runs }) => runs).find(({ failure }) => failure)
      if (done.length !== count || failed) throw new Error(`a rollout failed: ${JSON.stringify(failed?.failure)}`)
    }
    const cpuOf = async (work) => {
      const before = cpuMs()
      await work()
      return cpuMs() - before
    }
    const start = []
    for (const scheduler of schedulers) start.push((await cpuOf(() => explore(scheduler, workers))) / workers)
    for (const scheduler of schedulers) await explore(scheduler, rollouts)
    const times = []
    for (let round = 0; round < rounds; round++) {
      const one = []
      for (const scheduler of schedulers) one.push(await cpuOf(() => explore(scheduler, rollouts)))
      times.push(one)
    }
    return { start, times }
  } finally {
    for (const place of places) await place.close()
  }
}

export async function run(args) {
  const number = (name, fallback) => Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback)
  const size = {
    rollouts: number('rollouts', 300),
    workers: number('workers', 4),
    turns: number('turns', 4),
    tokens: number('tokens', 32),
    rounds: number('rounds', 5),
  }
  const dir = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
  try {
    const shared = await prepare(await load(), dir, size)
    for (const engine of ['native', 'mock']) printTable(rows(engine, size, await measure(engine, shared, size)))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function rows(engine, { rollouts }, { start, times }) {
  return KINDS.map((isolation, i) => {
    const ratio = median(times.map((one) => one[i] / one[0]))
    return {
      engine,
      isolation,
      'CPU ms of a rollout': format(median(times.map((one) => one[i])) / rollouts),
      '× none': format(ratio),
      'CPU ms of a start': i === 0 ? '' : format(start[i]),
      target: i === 0 || engine === 'mock' ? '' : `< 1.1 ${ratio < 1.1 ? 'met' : 'MISSED'}`,
    }
  })
}
