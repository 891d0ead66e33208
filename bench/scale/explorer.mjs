// One explorer, as `trinity run` has it but for its engines: started by index.mjs with the bundled sources and the size,
// told over IPC when to begin and to end measuring.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { begin } from './child.mjs'
import { DelayedSampler, makePool } from './engines.mjs'
import { makeText, question } from './text.mjs'

/** Sequences that one engine computes at once. */
const PER_ENGINE = 1000
/** On a busy machine some end before all have begun: then it is as full as it gets. */
const FILL_MS = 40_000
const WARM_STEPS = 8

const { api, size, random, report, fail } = await begin()

const { text, ...words } = makeText(api)
const info = {
  architecture: 'delay',
  parameters: 0,
  trainableParameters: 0,
  vocabSize: text.tokenizer.vocabSize,
  maxModelLen: 1 << 17,
}
const pool = makePool(words, random)
const engines = Math.max(1, Math.round(size.rollouts / PER_ENGINE))
const model = Array.from({ length: engines }, () => new DelayedSampler({ info, mean: size.tokens, pool, random }))

const done = { rollouts: 0, calls: 0 }
/** Rollouts that wait for a tool. */
let outside = 0
api.workflows.add('bench_scale', async ({ model, task }) => {
  const messages = []
  for (let turn = 0; turn < size.turns; turn++) {
    messages.push({ role: 'user', content: String(task.taskDesc) })
    const [answer] = await model.chat(messages)
    messages.push({ role: 'assistant', content: answer.responseText })
    done.calls++
    if (turn + 1 === size.turns) break
    outside++
    await new Promise((resolve) => setTimeout(resolve, 2 * size.toolMs * random()))
    outside--
  }
  const experiences = model.toExperiences()
  for (const experience of experiences) experience.reward = Math.round(random())
  done.rollouts++
  return experiences
})

mkdirSync(size.folder, { recursive: true })
const tasks = join(size.folder, 'tasks.jsonl')
const rows = Array.from({ length: 1000 }, (_, i) => JSON.stringify({ prompt: question(i, size.prompt, random) }))
writeFileSync(tasks, rows.join('\n'))

const runs = 8
const config = api.resolve(
  `
model: {model_path: m, max_model_len: ${1 << 17}, max_prompt_tokens: ${1 << 16}, max_response_tokens: ${1 << 15}}
algorithm: {algorithm_type: grpo, repeat_times: ${runs}}
buffer:
  batch_size: ${size.batch / runs}
  total_steps: 1000000
  explorer_input:
    taskset: {name: train, path: ${tasks}, default_workflow_type: bench_scale}
  trainer_input:
    experience_buffer: {name: experience_buffer, storage_type: ${size.database ? 'sql' : 'queue'}}
explorer:
  name: ${size.name}
  eval_interval: 0
  concurrent_mode: asynchronous
  runner_per_model: ${Math.ceil(size.rollouts / runs / engines)}
  max_timeout: 3600
synchronizer: {sync_interval: 1000000}
`,
  { set: ['explorer.rollout_model.engine_type="mock"'], cwd: size.folder },
)
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const buffer = await api.openBuffer(
  {
    name: 'experience_buffer',
    storage_type: size.database ? 'sql' : 'queue',
    path: size.database ?? null,
    capacity: 10 * size.rollouts,
  },
  { job: 'bench/scale' },
)
const { save_input } = config.data_processor.experience_pipeline
const keeps = size.saveInput ?? save_input
const pipeline = await api.ExperiencePipeline.open({
  operators: [],
  input: keeps
    ? await api.openKeeper(`sqlite:///${join(size.folder, 'explorer_output.db')}`, 'pipeline_input', {})
    : undefined,
  advantage: api.advantageStep(config),
  output: buffer,
})
const steps = { put: 0, experiences: 0 }
const explorer = new api.Explorer({
  config,
  model,
  text,
  scheduler: await api.TasksetScheduler.open({ ...config.buffer, tasksets: config.buffer.explorer_input.tasksets }),
  evalTasksets: [],
  pipeline,
  buffer,
  sync: { version: 0, afterStep: async () => {} },
  monitor: {
    log(metrics) {
      steps.put++
      steps.experiences += metrics['experience_pipeline/experience_count']
    },
    table() {},
    rewind() {},
    close: async () => {},
  },
  logs: { logger: () => silent, close: async () => {} },
})
// Without a database the trainer's side is here too: what is put is taken.
const take = async () => {
  for (;;) await buffer.take(size.batch)
}
if (!size.database) take().catch(fail)

// Under way, and not waiting for this process.
const running = () => model.reduce((sum, one) => sum + one.stats().running, outside)
report(() => ({ ...done, ...steps, running: running() }))
const begun = performance.now()
const full = setInterval(() => {
  // With a database it is the steady state that counts, with its code compiled.
  const isFull = !size.database && (running() >= 0.9 * size.rollouts || performance.now() - begun > FILL_MS)
  if (steps.put < (size.database ? WARM_STEPS : 2) && !isFull) return
  clearInterval(full)
  process.send({ ready: true })
}, 100)
explorer.run(new AbortController().signal).catch(fail)
