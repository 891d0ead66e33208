import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { makeFolder } from '../base/file/make-folder.js'
import { recordEval } from '../checkpoint/best-eval.js'
import type { BestEval } from '../checkpoint/index.js'
import { BENCH, BENCH_RESULTS, BEST_EVAL, weightsPath } from '../checkpoint/layout.js'
import { nextCall } from '../engine/calls.js'
import { Explorer } from '../explorer/index.js'
import { type BenchResult, benchResult, writeBenchResults } from './bench-results.js'
import { isHosted } from './hosted.js'
import type { Job, ModeEnd } from './job.js'
import { openAuxiliary, openBase, openSamplers } from './models.js'
import { openEvalTasksets } from './tasks.js'
import { watchedSamplers } from './watched-sampler.js'

/** Evaluates the model it starts from and every checkpoint, or the newest one only. */
export async function runBench(job: Job): Promise<ModeEnd> {
  const { config, view, checkpoints, logs, stop, closers, note } = job
  const evalTasksets = await openEvalTasksets(config, closers)
  if (evalTasksets.length === 0) {
    throw new TrinityError('config/nothing-to-do', 'nothing to evaluate: there is no evaluation set', {
      path: 'buffer.explorer_input.eval_tasksets',
      hint: 'name at least one task set under eval_tasksets',
    })
  }
  const context = { ...job, signal: stop.now }
  const base = await openBase(context)
  const samplers = await openSamplers(context, base)
  const auxiliary = await openAuxiliary(context, base)
  const monitor = closers.add(await job.openMonitor(config.explorer.name))
  let version = 0
  // Beside that of the training run, which has numbers of its own.
  const dir = join(checkpoints.dir, BENCH)
  let best: BestEval | undefined
  await makeFolder(dir)
  for (const name of [BEST_EVAL, BENCH_RESULTS]) await rm(join(dir, name), { force: true })
  const explorer = closers.add(
    new Explorer({
      config,
      model: watchedSamplers(samplers, undefined, closers, () => job.startup.sampled()),
      text: base.text,
      place: base.place,
      auxiliary,
      evalTasksets,
      sync: {
        get version() {
          return version
        },
        afterStep: async () => {},
      },
      monitor,
      view,
      logs,
      bestEval: async ({ version: step, metrics }) => {
        best = await recordEval(dir, step, metrics, undefined, note).catch((error) => {
          note(`no best evaluation is kept: ${error.message}`)
          return best
        })
      },
    }),
  )
  // a model of a service has no checkpoints, and takes no weights
  const hosted = isHosted(config)
  const model = hosted ? (config.explorer.rollout_model.model_path ?? '') : config.model.model_path
  const all = hosted ? [] : (await checkpoints.all()).map(({ step, dir }) => ({ step, path: weightsPath(dir) }))
  const latestOnly = config.explorer.bench_on_latest_checkpoint && all.length > 0
  const first =
    latestOnly || !(config.explorer.eval_on_startup || all.length === 0)
      ? []
      : [{ step: 0, path: hosted ? model : base.dir }]
  if (all.length === 0 && !hosted) note(`there is no checkpoint in ${checkpoints.dir}: the model itself is evaluated`)
  const list = [...first, ...(latestOnly ? all.slice(-1) : all)]
  const names = evalTasksets.map(({ name }) => name)
  const results: BenchResult[] = []
  let passed = 0
  for (const { step, path } of list) {
    if (stop.gentle.aborted) return { end: 'stopped', steps: version }
    const wrong = step === 0 ? undefined : await checkpoints.weightDamage(step)
    if (wrong !== undefined) {
      note(`${path} is not evaluated, because it is damaged (${wrong})`)
      passed++
      continue
    }
    view.phase('explorer', step === 0 ? 'evaluating the model before training' : `evaluating global_step_${step}`)
    if (!hosted)
      for (const sampler of new Set(samplers)) await sampler.loadWeights(path, step, 'finish', nextCall(stop.now))
    version = step
    const metrics = await explorer.evaluate(step, { prefix: 'bench', signal: stop.now })
    results.push(benchResult({ step, path }, names, metrics))
    const file = await writeBenchResults(dir, model, results)
    if (results.length === 1) note(`the numbers of each task set are in ${file}`)
  }
  const own = { steps: version, best, counts: { explorer: explorer.counts } }
  if (passed > 0 && passed < list.length) {
    const reason = `after ${list.length - passed} of ${list.length} evaluations: ${passed} damaged checkpoints were left out`
    return { end: 'partial', reason, ...own }
  }
  if (passed < list.length) return { end: 'finished', ...own }
  throw new TrinityError('checkpoint/damaged', 'nothing could be evaluated: what should be evaluated is damaged', {
    path: checkpoints.dir,
    hint: 'restore it from a backup, or move it away',
  })
}
