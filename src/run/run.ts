import { shortPath } from '../base/file/short-path.js'
import { isWrongUse, noteDuringRun } from '../base/wrong-use.js'
import { type BestEval, Checkpoints } from '../checkpoint/index.js'
import { type Resolved, type ResolvedStage, trainsIn } from '../config/index.js'
import { type OpenEngine, openEngine } from '../engine/registry.js'
import { openMonitor } from '../monitor/open.js'
import type { RunCounts } from '../monitor/run-counts.js'
import type { RunSummary } from '../monitor/view.js'
import type { ProgressView } from './job.js'
import { refusals } from './preflight/index.js'
import { runStage, type StageContext, type StageEnd } from './stage.js'
import { StageMeta } from './stage-meta.js'
import { StepsTaken } from './steps-taken.js'
import { Stop } from './stop.js'
import { useWeights } from './use-weights.js'

/** What a run is given beside its configuration. */
export interface RunOptions {
  /** What a person sees; default nothing. */
  readonly view?: ProgressView
  /** How the run is asked to stop. */
  readonly stop?: Stop
  readonly openEngine?: OpenEngine
  readonly openMonitor?: StageContext['openMonitor']
  /** Stages for which the trainer's engine was asked for by name; sizes are then not judged. */
  readonly engineNamed?: (stage: number) => boolean
  /** The command that goes on, for people. */
  readonly command?: string
  /** The same with another value of a key, such as a later end. */
  readonly commandWith?: (key: string, value: number) => string
  /** When the run was asked for, as `performance.now()` says it; default now. */
  readonly began?: number
}

/** How a run ended. */
export interface RunResult {
  /**
   * `before`: nothing was to do, an earlier run has finished everything. `partial`: a stage made less than it was
   * asked for, and was not asked to stop.
   */
  readonly end: StageEnd['end']
  /** `partial`: what is missing and why, such as `after 6 of 8 steps: 24 of 96 experiences were dropped`. */
  readonly reason?: string
  /** Counts of the last stage that ran, over all runs of its job. */
  readonly counts?: RunCounts
  /** Training steps of the last stage that ran. */
  readonly steps: number
  readonly stages: readonly { readonly name: string | null; readonly end: StageEnd['end']; readonly steps: number }[]
  readonly summary: RunSummary
}

/**
 * Runs all stages of a configuration, one after the other. A stage that fails is the end.
 * @example
 * import { loadCatalog, loadConfig, machineFacts, resolveConfig, run } from 'trinity-rft/config'
 *
 * const parsed = loadConfig('job.yaml')
 * const { end, steps } = await run(resolveConfig(parsed, machineFacts(), await loadCatalog([parsed])))
 * console.log(end, steps)
 */
export async function run({ stages, file, isOverridden }: Resolved, options: RunOptions = {}): Promise<RunResult> {
  const { view = SILENT, stop = new Stop() } = options
  // also of later stages, before hours are spent on the first
  for (const stage of stages) for (const { error, isDoubtful } of await refusals(stage)) if (!isDoubtful) throw error
  const begun = performance.now()
  const meta = stages.length > 1 ? new StageMeta(stages) : undefined
  let bestOf: BestEval | undefined
  const changes: string[] = []
  const ended: { name: string | null; end: StageEnd['end']; steps: number }[] = []
  let now: number | undefined
  let counts: RunCounts | undefined
  const reasons: string[] = []
  for (const [i, stage] of stages.entries()) {
    await meta?.begin(i)
    if (stages.length > 1) view.phase('run', `stage ${i + 1} of ${stages.length}: ${stage.name}`)
    const taken = new StepsTaken(stage.config.mode)
    try {
      const stageEnd = await runStage(stage, {
        view: taken.watch(view),
        stop,
        file: isOverridden ? undefined : file,
        openEngine: options.openEngine ?? openEngine,
        openMonitor: options.openMonitor ?? openMonitor,
        engineNamed: options.engineNamed?.(i) ?? false,
        began: (i === 0 ? options.began : undefined) ?? performance.now(),
      })
      const { end, steps, reason, changed = [] } = stageEnd
      ended.push({ name: stage.name, end, steps })
      if (reason !== undefined) reasons.push(stages.length > 1 ? `${reason} (stage ${stage.name})` : reason)
      // where nothing is trained, steps are not its own
      now = trainsIn(stage.config.mode) && end !== 'before' ? taken.count : undefined
      bestOf = stageEnd.best
      counts = stageEnd.counts
      changes.push(...changed)
    } catch (error) {
      if (taken.count > 0) noteDuringRun(error)
      // what a person has to change before anything can run leaves nothing to sum up
      if ((stop.failure !== undefined || !stop.now.aborted) && !isWrongUse(error))
        view.end(await failed(stage, taken, begun, options.command))
      throw error
    }
    if (ended[i].end === 'stopped') break
    await meta?.finished(i)
  }
  const last = ended[ended.length - 1]
  const ends = new Set(ended.map((one) => one.end))
  const isPartial = last.end !== 'stopped' && ends.has('partial')
  const end = isPartial ? 'partial' : ended.every((one) => one.end === 'before') ? 'before' : last.end
  const reason = isPartial ? reasons.join('; ') : undefined
  const found = await summarize(stages[ended.length - 1], end, last.steps, begun, options.command, bestOf)
  const summary = { ...found, now, partial: reason, counts }
  if (end === 'before')
    summary.next.unshift(longer(stages, options), `${options.command ?? COMMAND} --fresh   starts over`)
  view.end(end === 'before' ? { ...summary, changed: changes } : summary)
  return { end, reason, counts, steps: last.steps, stages: ended, summary }
}

const COMMAND = 'trinity run'

/** The command that trains twice as long, as it is set now. */
function longer(stages: readonly ResolvedStage[], { command = COMMAND, commandWith }: RunOptions): string {
  const { buffer, trainer } = stages[stages.length - 1].config
  const ownSteps = trainer.total_steps === buffer.total_steps ? null : trainer.total_steps
  const [key, value] = ownSteps
    ? (['trainer.total_steps', ownSteps] as const)
    : buffer.total_steps
      ? (['buffer.total_steps', buffer.total_steps] as const)
      : (['buffer.total_epochs', buffer.total_epochs] as const)
  // of several stages, the last goes on
  const place = stages.length > 1 ? `stages[${stages.length - 1}].${key}` : key
  const typed = commandWith?.(place, 2 * value) ?? `${command} --set '${place}=${2 * value}'`
  return `${typed}   trains twice as long, as it is set now`
}

async function failed(stage: ResolvedStage, taken: StepsTaken, begun: number, command = COMMAND): Promise<RunSummary> {
  const summary = await summarize(stage, 'finished', taken.last, begun, command)
  const next = [`${shortPath(stage.config.log.save_dir ?? '')}   has the details`]
  const saved = summary.checkpoint === undefined ? 'starts again' : 'resumes from the last checkpoint'
  // what stopped it before it had done anything would stop it again
  if (taken.count > 0) next.push(`${command}   ${saved}`)
  return { ...summary, ok: false, steps: taken.last, now: taken.count, next }
}

async function summarize(
  { config }: ResolvedStage,
  end: StageEnd['end'],
  steps: number,
  begun: number,
  command = COMMAND,
  own?: BestEval,
): Promise<RunSummary & { next: string[] }> {
  const checkpoints = await Checkpoints.open({ dir: config.checkpoint_job_dir })
  const best = own ?? (await checkpoints.bestEval())
  const weights = await checkpoints.newestWeights()
  const next: string[] = []
  if (end === 'stopped') next.push(`${command}   resumes from here`)
  if (weights) next.push(...(await useWeights(weights.path, config.trainer.trainer_type)))
  const brief = (one: { step: number; metric: string; score: number }) => ({
    step: one.step,
    metric: one.metric,
    score: one.score,
  })
  return {
    ok: true,
    stopped: end === 'stopped',
    isOld: end === 'before',
    steps: steps || (weights?.step ?? 0),
    seconds: (performance.now() - begun) / 1000,
    firstEval: best && brief(best.first),
    bestEval: best && brief(best.best),
    checkpoint: weights?.path,
    next,
  }
}

const SILENT: ProgressView = { phase: () => {}, metrics: () => {}, note: () => {}, end: () => {}, close: () => {} }
