// What the explorer costs beside sampling: thousands of multi-turn rollouts at once on the mock engine, against the same
// requests sent straight to the engine. --rollouts=N at once (2000), --turns=N (4), --tokens=N of an answer (32).
import { mkdtempSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format, loadSources, median, printTable, watchLoop } from './lib.mjs'

export const title = 'Explorer: many multi-turn rollouts at once'
export const about = 'event-loop lag, memory and overhead of thousands of rollouts on the mock engine'

const QUESTION = 'What do you do next? You see a door, a lamp and a table. '

const SOURCES = [
  'explorer/scheduler',
  'explorer/timeout',
  'explorer/workplace',
  'engine/mock/engine',
  'model/character-tokenizer',
  'model/index',
  'workflow/index',
  'base/random/index',
]

/** Lower-case letters only: a small vocabulary keeps the mock model's own arithmetic small. */
function textOf({ Tokenizer, ChatTemplate, characterTokenizer }) {
  const special = ['<|end|>', '<|unk|>', '<|user|>', '<|assistant|>']
  const characters = [...'abcdefghijklmnopqrstuvwxyzWY.,?! ']
  const tokenizer = new Tokenizer({
    path: 'letters',
    tokenizer: characterTokenizer(characters, special, '<|unk|>'),
    specialTokens: { eos_token: '<|end|>' },
  })
  const template =
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}" +
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
  return { tokenizer, template: new ChatTemplate(template, tokenizer.specialTokens) }
}

async function measured(work) {
  const watched = watchLoop()
  await work()
  return watched()
}

export async function measure({ rollouts = 2000, turns = 4, tokens = 32, rounds: count = 3 } = {}) {
  const folder = mkdtempSync(fileURLToPath(new URL('../node_modules/.trinity-bench-', import.meta.url)))
  try {
    const api = await loadSources(folder, SOURCES)
    const text = textOf(api)
    const { vocabSize, eosId } = text.tokenizer
    const engine = new api.MockEngine({ vocabSize, eos: eosId, maxModelLen: 1 << 16 })
    const sampler = await engine.openSample({ path: 'mock' }, { seq: 1, deadlineMs: 1000 })
    const silent = { debug() {}, info() {}, warn() {}, error() {} }
    const args = { max_tokens: tokens, ignore_eos: true }

    api.workflows.add('bench_talk', async ({ model }) => {
      const messages = []
      for (let turn = 0; turn < turns; turn++) {
        messages.push({ role: 'user', content: QUESTION })
        const [answer] = await model.chat(messages, args)
        messages.push({ role: 'assistant', content: answer.responseText })
      }
      const experiences = model.toExperiences()
      for (const experience of experiences) experience.reward = 1
      return experiences
    })
    const scheduler = new api.RolloutScheduler(rollouts, {
      workplace: api.workHere((job, { run, repeat }, signal) => ({
        task: job.task,
        model: new api.RolloutModel({
          sampler,
          text,
          limits: { maxModelLen: 1 << 16 },
          seedOf: (call) => api.deriveSeed(1, job.taskId, run, call),
          signal,
          deadlineMs: 600_000,
        }),
        auxiliary: new api.AuxiliaryModels(),
        logger: silent,
        random: new api.Pcg64(1),
        signal,
        run,
        repeat,
      })),
      timeout: new api.AttemptTimeout({ max_timeout: 600, dynamic_timeout: { enable: false } }),
      retries: 0,
      backoffMs: 1,
      graceMs: 10,
      concurrent: false,
      seed: 1,
      loggerOf: () => silent,
    })
    const task = {
      raw: {},
      workflow: 'bench_talk',
      repeatTimes: 1,
      format: {},
      rolloutArgs: {},
      workflowArgs: {},
      rewardFnArgs: {},
      isEval: false,
      index: { taskset: 0, row: 0 },
    }
    let order = 0
    const explore = async () => {
      const tasks = Array.from({ length: rollouts }, () => task)
      const { tasks: done } = await scheduler.submit({ id: ++order, order, kind: 'train', tasks }).done
      const failed = done.flatMap(({ runs }) => runs).find(({ failure }) => failure)
      if (done.length !== rollouts || failed) throw new Error(`a rollout failed: ${JSON.stringify(failed?.failure)}`)
    }
    /** The same requests without conversation, template, tokenizer, experiences or scheduler. */
    const question = text.tokenizer.encode(text.template.render([{ role: 'user', content: QUESTION }]))
    const straight = async () => {
      const one = async () => {
        for (let turn = 0; turn < turns; turn++) {
          const prompt = new Int32Array((turn + 1) * question.length + turn * tokens).fill(5)
          const params = { temperature: 1, maxTokens: tokens, ignoreEos: true, seed: turn }
          await sampler.sample({ prompt, n: 1, params }, { seq: 1, deadlineMs: 600_000 })
        }
      }
      await Promise.all(Array.from({ length: rollouts }, one))
    }
    await measured(straight)
    const rounds = []
    for (let round = 0; round < count; round++) {
      rounds.push({ straight: await measured(straight), explorer: await measured(explore) })
    }
    return rounds
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function run(args) {
  const number = (name, fallback) => Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback)
  const size = { rollouts: number('rollouts', 2000), turns: number('turns', 4), tokens: number('tokens', 32) }
  const rounds = await measure(size)
  const of = (who, what) => median(rounds.map((round) => round[who][what]))
  console.log(`${size.rollouts} rollouts at once, ${size.turns} turns of ${size.tokens} tokens; median of 3 rounds`)
  printTable(
    ['straight', 'explorer'].map((who) => ({
      what: who === 'straight' ? 'engine alone' : 'explorer',
      s: format(of(who, 'ms') / 1000),
      'CPU s': format(of(who, 'cpu') / 1000),
      'lag p99 ms': format(of(who, 'p99')),
      'lag max ms': format(of(who, 'max')),
      'own p99 ms': format(of(who, 'own')),
      'RSS MB': format(of(who, 'rss')),
    })),
  )
  const own = of('explorer', 'own')
  const rss = of('explorer', 'rss')
  const share = of('explorer', 'cpu') / of('explorer', 'ms')
  console.log(`CPU time against the engine alone: ${format(of('explorer', 'cpu') / of('straight', 'cpu'))} ×`)
  console.log(`this process had ${format(share)} cores; own = processor time between two turns of the loop`)
  console.log(
    `own lag p99 ${format(own)} ms: target < 50 ${own < 50 ? 'met' : 'MISSED'}; RSS ${format(rss)} MB: target < 1024 ${rss < 1024 ? 'met' : 'MISSED'}`,
  )
}
