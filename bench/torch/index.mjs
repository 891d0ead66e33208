// A GRPO step on the torch engine, as the loop makes it, in one process with trainer and sampler on one device:
// seconds of rollout, advantage, training and hand-over, and what of it is not arithmetic. Random weights in a published shape.
// --loop: the same by `trinity run`, with everything that a run does. --against=trl: that, before and after TRL's GRPOTrainer with vLLM.
// --shape=1.5b --prompts=64 --answers=8 --prompt=256 --response=512 --budget=8192 --steps=3 (a GPU); --shape=tiny for a CPU.
// Training and sampling alone, with their peers: bench/torch/train.py and sample.py, which need no Node.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, median, printTable } from '../lib.mjs'
import { againstTrl } from './against-trl.mjs'
import { loop } from './loop.mjs'

export const title = 'Torch engine: a GRPO step'
export const about = 'seconds by part, and the share that TypeScript and transport take (needs Python with torch)'

const here = fileURLToPath(new URL('.', import.meta.url))

export async function run(options = []) {
  const option = (name, fallback) =>
    options.find((given) => given.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback
  const number = (name, fallback) => Number(option(name, fallback))
  const shape = option('shape', '1.5b')
  const python = process.env.TRINITY_PYTHON ?? 'python3'
  const built = (name) => import(new URL(`../../dist/${name}`, import.meta.url).href)
  const lib = { ...(await built('index.js')), ...(await built('algorithm/index.js')) }
  const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
  const made = spawnSync(python, [join(here, 'make.py'), shape, folder], { encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`the model could not be made: ${made.stderr}`)
  const work = {
    prompts: number('prompts', 64),
    answers: number('answers', 8),
    prompt: number('prompt', 256),
    response: number('response', 512),
    budget: number('budget', 8192),
  }
  const against = option('against') === 'trl'
  if (against || options.includes('--loop')) {
    try {
      if (against)
        await againstTrl(folder, work, { rows: number('rows', 8), vllm: option('generate') !== 'transformers' })
      else await loop(folder, { ...work, steps: 4 + number('steps', 3) })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    return
  }
  const engine = new lib.TorchEngine({ devices: 1, python, shareStorage: true })
  let seq = 0
  const call = () => ({ seq: ++seq, deadlineMs: 600_000 })
  try {
    const policy = await engine.openTrain({ path: folder, seed: 1 }, call())
    const sampler = await engine.openSample({ path: folder, seed: 1, shareWith: policy }, call())
    const steps = []
    // the first step compiles
    for (let step = 0; step <= number('steps', 3); step++) {
      const parts = await grpoStep(lib, { policy, sampler, call }, work, step)
      if (step > 0) steps.push(parts)
    }
    report(steps, work)
  } finally {
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function grpoStep(lib, { policy, sampler, call }, work, step) {
  const clock = stopwatch()
  const idle = performance.eventLoopUtilization()
  const prompts = Array.from({ length: work.prompts }, () =>
    Int32Array.from({ length: work.prompt }, () => Math.floor(Math.random() * policy.info.vocabSize)),
  )
  const params = { temperature: 1, maxTokens: work.response, ignoreEos: true }
  const samples = await Promise.all(
    prompts.map((prompt, i) =>
      sampler.sample({ prompt, n: work.answers, params: { ...params, seed: step * 1000 + i } }, call()),
    ),
  )
  clock.lap('rollout')

  const { defaults } = lib.algorithms.get('grpo')
  // without the reference model, which would be a second forward pass
  const loss = lib.buildLoss({ ...defaults, kl_loss_fn: 'none', kl_loss_fn_args: {} })
  const advantage = lib.advantageFns.get(defaults.advantage_fn)
  const args = lib.advantageFns.parse(defaults.advantage_fn, defaults.advantage_fn_args, 'args')
  const experiences = samples.flatMap((group, task) =>
    group.map(({ tokens, logprobs }, run) =>
      lib.createExperience({
        eid: { batch: step, task, run },
        tokens: Int32Array.from([...prompts[task], ...tokens]),
        promptLength: work.prompt,
        actionMask: new Uint8Array(tokens.length).fill(1),
        logprobs,
        reward: Math.random(),
      }),
    ),
  )
  const scored = advantage.compute(experiences, args, { random: Math.random }).experiences
  const rows = lib.toRows(scored, loss.columns, { step })
  clock.lap('advantage')

  const learned = await policy.forwardBackward({ rows, tokenBudget: work.budget }, loss, call())
  const train = clock.lap('train')
  await policy.optimStep({ lr: 1e-6, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0.01, gradClip: 1 }, call())
  clock.lap('optimizer')
  await policy.handOver([sampler], step + 1, 'finish', call())
  clock.lap('sync')
  const busy = performance.eventLoopUtilization(idle).active / 1000

  const off = learned.scores.map(({ logprob }, i) => logprob.map((x, t) => Math.abs(x - scored[i].logprobs[t])))
  const all = off.flatMap((row) => [...row]).sort((a, b) => a - b)
  return {
    seconds: clock.parts,
    busy,
    transport: train - learned.computeSeconds,
    sampled: samples.flat().reduce((sum, { tokens }) => sum + tokens.length, 0),
    trained: rows.reduce((sum, { tokens }) => sum + tokens.length, 0),
    mismatch: { mean: all.reduce((a, b) => a + b, 0) / all.length, p99: all[Math.floor(all.length * 0.99)] },
  }
}

function stopwatch() {
  const parts = {}
  let last = performance.now()
  const lap = (name) => {
    const now = performance.now()
    parts[name] = (now - last) / 1000
    last = now
    return parts[name]
  }
  return { parts, lap }
}

function report(steps, work) {
  const total = (one) => Object.values(one.seconds).reduce((sum, part) => sum + part, 0)
  console.log(`${work.prompts} prompts × ${work.answers} answers, ${work.prompt} + ${work.response} tokens`)
  printTable(
    Object.keys(steps[0].seconds).map((part) => ({
      part,
      s: format(median(steps.map((one) => one.seconds[part]))),
      '% of the step': format(median(steps.map((one) => (100 * one.seconds[part]) / total(one)))),
    })),
  )
  const of = (what) => format(median(steps.map(what)))
  console.log(`whole step ${of(total)} s; sampling ${of((one) => one.sampled / one.seconds.rollout)} tokens/s`)
  console.log(`training ${of((one) => one.trained / one.seconds.train)} tokens/s`)
  const share = median(steps.map((one) => (100 * one.transport) / one.seconds.train))
  console.log(
    `frames and TypeScript ${format(share)} % of the training call (target < 3 ${share < 3 ? 'met' : 'MISSED'})`,
  )
  const busy = median(steps.map((one) => (100 * one.busy) / total(one)))
  console.log(
    `TypeScript works ${format(busy)} % of the whole step, ${work.prompts * work.answers} answers in flight (target < 3 ${busy < 3 ? 'met' : 'MISSED'})`,
  )
  console.log(
    `log-probs of sampler and trainer: mean ${of((one) => one.mismatch.mean)}, p99 ${of((one) => one.mismatch.p99)}`,
  )
}
