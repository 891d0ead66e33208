import '../workflow/index.js'
import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityError } from '../base/error.js'
import { linkSignals } from '../base/link-signals.js'
import type { Logger } from '../base/log/logger.js'
import { extremes } from '../experience/extremes.js'
import {
  addExplorerStep,
  type EvaluationCounts,
  type ExplorerCounts,
  NO_EVALUATIONS,
  NO_ROLLOUTS,
  sumEvaluations,
} from '../monitor/run-counts.js'
import { spanned } from '../monitor/span/span.js'
import type { SelectorFeedback } from '../pipeline/index.js'
import type { PipelineReport } from '../pipeline/pipeline.js'
import type { SchedulerState, Task } from '../task/index.js'
import { failuresOf, type RolloutBatch } from './batch.js'
import { rolloutSeed } from './contexts.js'
import { evaluateTaskset } from './evaluation.js'
import { Harvest } from './harvest.js'
import { hostedUse } from './hosted-use.js'
import { workplaceOf } from './isolation/workplace.js'
import { LoopLag } from './lag.js'
import type { ExplorerMark } from './mark.js'
import type { EvaluationPlan, ExplorerParts } from './parts.js'
import { RolloutScheduler } from './scheduler.js'
import { Speed, sampledTokens, stepMetrics, trainExperiences } from './step.js'
import { isSyncPoint } from './sync-point.js'
import { AttemptTimeout } from './timeout.js'
import type { Workplace } from './workplace.js'

/** Wait before the second attempt of a rollout. */
const BACKOFF_MS = 200
/** How long a workflow that was told to stop may take to do so. */
const GRACE_MS = 2000
/** Whoever has not come to rest by then never will: it has lost what it waited for. */
const REST_MS = 3 * GRACE_MS

/**
 * The explorer's loop: draws tasks, has them run, passes the experiences on. Several steps may be under way until a sync
 * point, but they are finished in order, and what one contains does not depend on when anything happened.
 */
export class Explorer {
  readonly #parts: ExplorerParts
  readonly #rollouts: RolloutScheduler
  readonly #workplace: Workplace
  readonly #timeout: AttemptTimeout
  readonly #logger: Logger
  readonly #lag = new LoopLag()
  readonly #speed: Speed
  readonly #harvest = new Harvest()
  /** It began with the first step: what earlier runs have made of theirs is not known. */
  #isWhole = true
  #step = 0
  /** Last step of which the synchronizer has heard. */
  #told = 0
  #mark: ExplorerMark | undefined
  /** What the selectors have not been told yet. */
  #feedback: SelectorFeedback[] = []
  /** Steps under way, oldest first; each is settled when its experiences are in the buffer. */
  #open: { step: number; finished: Promise<void> }[] = []
  #evaluation: Promise<unknown> = Promise.resolve()
  #evaluated = { step: -1, version: -1 }
  /** Sums of the evaluations before the mark that was restored, and counts of those of this process by step. */
  #evaluations = NO_EVALUATIONS
  readonly #evaluationsByStep = new Map<number, EvaluationCounts>()

  constructor(parts: ExplorerParts) {
    this.#parts = parts
    const { config, logs, model } = parts
    const { explorer } = config
    this.#logger = logs.logger(explorer.name)
    for (const [name, value] of Object.entries(explorer.env_vars)) process.env[name] = String(value)
    this.#timeout = new AttemptTimeout(explorer)
    this.#speed = new Speed(model)
    const loggerOf = (runner: number) => logs.logger(`${explorer.name}_runner_${runner}`)
    this.#workplace = workplaceOf(parts, loggerOf, (text) => parts.view?.note(text))
    this.#rollouts = new RolloutScheduler(model.length * explorer.runner_per_model, {
      workplace: this.#workplace,
      timeout: this.#timeout,
      retries: explorer.max_retry_times,
      backoffMs: BACKOFF_MS,
      graceMs: GRACE_MS,
      concurrent: explorer.concurrent_mode !== 'sequential',
      seed: rolloutSeed(config),
      loggerOf,
    })
  }

  /** Steps begun. */
  get step(): number {
    return this.#step
  }

  /** Step and weights of the last evaluation; both are -1 before the first. */
  get evaluated(): { readonly step: number; readonly version: number } {
    return this.#evaluated
  }

  /** Counts up to the mark, and of all evaluations. */
  get counts(): ExplorerCounts {
    return { ...(this.#mark?.counts ?? NO_ROLLOUTS), evaluations: this.#evaluationsBefore(Number.POSITIVE_INFINITY) }
  }

  /** A resumed run makes the evaluation of the step of its mark again, so a mark counts only those of earlier steps. */
  #evaluationsBefore(step: number): EvaluationCounts {
    const own = [...this.#evaluationsByStep].flatMap(([of, counts]) => (of < step ? counts : []))
    return sumEvaluations([this.#evaluations, ...own])
  }

  /** Where the last step whose experiences are in the buffer has ended. */
  get mark(): ExplorerMark | undefined {
    return this.#mark
  }

  /** Goes on behind the mark; undefined: from the beginning. */
  restore(mark: ExplorerMark | undefined): void {
    if (mark === undefined) return
    if (mark.version !== 1) {
      throw new TrinityError('explorer/mark', `the checkpoint's explorer state has version ${mark.version}`, {
        hint: 'it was written by another version of the software; start the run under another name',
      })
    }
    this.#scheduler().restore(mark.scheduler)
    this.#step = mark.step
    this.#isWhole = false
    this.#mark = mark
    this.#evaluations = mark.counts?.evaluations ?? NO_EVALUATIONS
    this.#feedback = [...mark.feedback]
  }

  /**
   * Until the tasks end, or until `stop` asks for it: then the steps under way are finished. `signal` stops at once.
   * Fails with the first real failure; then nothing is running any more.
   */
  async run(signal: AbortSignal, stop: AbortSignal = new AbortController().signal): Promise<void> {
    const link = linkSignals([signal])
    const drop = () => this.#rollouts.abort(link.signal.reason)
    if (link.signal.aborted) drop()
    link.signal.addEventListener('abort', drop, { once: true })
    this.#lag.start()
    const { runner_state_report_interval: seconds } = this.#parts.config.explorer
    const report = () => this.#logger.info(this.#rollouts.report())
    const reports = seconds > 0 ? setInterval(report, seconds * 1000) : undefined
    try {
      await this.#loop(link.signal, stop, (error) => link.abort(error))
    } catch (error) {
      link.abort(error)
      throw link.signal.reason ?? error
    } finally {
      link.release()
      clearInterval(reports)
      const rested = new AbortController()
      const late = sleep(REST_MS, undefined, { signal: rested.signal }).catch(() => {})
      await Promise.race([this.#rest(), late])
      rested.abort()
      this.#lag.stop()
    }
  }

  /** Until nothing runs any more. */
  async #rest(): Promise<void> {
    await Promise.allSettled([...this.#open.map(({ finished }) => finished), this.#evaluation])
    await this.#rollouts.idle()
  }

  /** Every evaluation set with the weights in use: metrics, also given to the monitor under `step`. */
  async evaluate(
    step: number,
    options: { prefix?: 'eval' | 'bench'; signal?: AbortSignal } = {},
  ): Promise<Record<string, number>> {
    const { evalTasksets, config, sync, monitor, view, bestEval } = this.#parts
    const { prefix = 'eval', signal } = options
    if (evalTasksets.length === 0) return {}
    const begun = performance.now()
    const version = sync.version
    const sets = await spanned(this.#parts.spans, ['eval', 'evaluation', step], () =>
      Promise.all(
        evalTasksets.map((taskset) =>
          evaluateTaskset(taskset, this.#rollouts, {
            step,
            version,
            prefix,
            detailed: config.monitor.detailed_stats,
            maxRepeat: config.explorer.max_repeat_times_per_runner ?? undefined,
            signal,
          }),
        ),
      ),
    )
    const metrics: Record<string, number> = Object.assign({}, ...sets.map((set) => set.metrics))
    metrics[`time/${prefix}`] = (performance.now() - begun) / 1000
    metrics['rollout/model_version'] = version
    Object.assign(metrics, hostedUse(this.#parts))
    monitor.log(metrics, step)
    view?.metrics('explorer', step, metrics)
    const evaluation: EvaluationPlan = { step, version, metrics }
    this.#evaluated = { step, version }
    this.#evaluationsByStep.set(step, sumEvaluations(sets.map((set) => set.counts)))
    await bestEval?.(evaluation)
    return metrics
  }

  /** Ends the workers, where workflows run in some. */
  close(): Promise<void> {
    return this.#workplace.close()
  }

  async #loop(signal: AbortSignal, stop: AbortSignal, fail: (error: unknown) => void): Promise<void> {
    const { config, buffer } = this.#parts
    const scheduler = this.#scheduler()
    await this.#begin(signal, stop, fail)
    while (!this.#isLast(this.#step) && !stop.aborted) {
      signal.throwIfAborted()
      const tasks = await scheduler.next()
      if (!tasks) break
      // a batch that is submitted after the abort would not be aborted
      signal.throwIfAborted()
      const step = ++this.#step
      this.#submit(step, tasks, scheduler.state(), signal, fail)
      const syncs = isSyncPoint(step, config)
      if (syncs || scheduler.step >= scheduler.steps) await this.#settle(0, signal)
      const last = this.#isLast(step)
      // before the trainer hears of the end: it would end well
      if (last && this.#isWhole) this.#harvest.check(true)
      if (last) await buffer?.finish(config.explorer.name)
      if (syncs || last) await this.#afterSteps(signal, stop)
      if (this.#evalDue(step)) this.#beginEvaluation(step, signal, fail)
      if (config.synchronizer.sync_style === 'fully_async') {
        await this.#settle(config.explorer.max_inflight_batches - 1, signal)
        await this.#afterSteps(signal, stop)
      } else {
        await this.#settle(this.#mostOpen(), signal)
        await this.#rollouts.hungry()
      }
    }
    await this.#settle(0, signal)
  }

  /** Steps that may be under way: enough to keep every runner busy, few enough that waiting results do not pile up. */
  #mostOpen(): number {
    return 1 + Math.ceil(this.#rollouts.runners.length / this.#parts.config.buffer.batch_size)
  }

  /** Tokens are counted where nothing is under way: what a run contains does not depend on when a step is finished. */
  #isLast(step: number): boolean {
    const { config } = this.#parts
    const most = config.buffer.total_tokens ?? Number.POSITIVE_INFINITY
    const scheduler = this.#scheduler()
    const isSpent = isSyncPoint(step, config) && (this.#mark?.sampledTokens ?? 0) >= most
    return scheduler.step >= scheduler.steps || isSpent
  }

  #scheduler() {
    const { scheduler } = this.#parts
    if (scheduler) return scheduler
    throw new TrinityError('explorer/no-tasks', 'this explorer was made for evaluation only: it has no task sets')
  }

  /** Tells the synchronizer of a restored step again, and evaluates what is due before the next step. */
  async #begin(signal: AbortSignal, stop: AbortSignal, fail: (error: unknown) => void): Promise<void> {
    const { config, buffer } = this.#parts
    this.#told = this.#step
    if (this.#step === 0) {
      if (config.explorer.eval_on_startup) this.#beginEvaluation(0, signal, fail)
      return
    }
    if (this.#isLast(this.#step)) await buffer?.finish(config.explorer.name)
    await this.#sync(this.#step, signal, stop)
    if (isSyncPoint(this.#step, config)) this.#tellSelectors()
    if (this.#evalDue(this.#step)) this.#beginEvaluation(this.#step, signal, fail)
  }

  #submit(step: number, tasks: readonly Task[], state: SchedulerState, signal: AbortSignal, fail: Fail): void {
    const { explorer } = this.#parts.config
    const { ratio, wait_after_min, return_partial_tasks } = explorer.over_rollout
    const batch = this.#rollouts.submit({
      id: step,
      order: step,
      kind: 'train',
      tasks,
      maxRepeat: explorer.max_repeat_times_per_runner ?? undefined,
      enough: ratio > 0 ? Math.ceil(tasks.length * (1 - ratio)) : undefined,
      waitMs: wait_after_min * 1000,
      keepPartial: return_partial_tasks,
    })
    this.#parts.view?.phase('explorer', `step ${step}: ${tasks.length} tasks`)
    const before = this.#open.at(-1)?.finished ?? Promise.resolve()
    // What is evaluated before the step is on record before the step is.
    const evaluated = this.#evaluation
    const finished = Promise.all([before, evaluated]).then(() => this.#finish(step, batch, state, signal))
    finished.catch(fail)
    this.#open.push({ step, finished })
  }

  async #finish(step: number, batch: RolloutBatch, state: SchedulerState, signal: AbortSignal): Promise<void> {
    const { pipeline, monitor, view, sync, config, spans } = this.#parts
    const begun = performance.now()
    const result = await spanned(spans, ['work', 'rollouts', step], () => batch.done)
    const waited = (performance.now() - begun) / 1000
    const experiences = trainExperiences(step, result)
    const { runs: rollouts, failed } = failuresOf(result)
    const made = experiences.filter(({ failure }) => failure === undefined).length
    const known: Record<string, number> = {}
    const markOf = ({ feedback, steps, metrics }: PipelineReport, inputEnd?: number): ExplorerMark => {
      Object.assign(known, metrics, stepMetrics(result), this.#speed.take(), hostedUse(this.#parts), {
        'rollout/model_version': sync.version,
        'explorer/time/wait_explore_step': waited,
        ...this.#lag.take(),
      })
      // Before the put: a resumed explorer removes the metrics of a step that is not in the buffer, but cannot restore those
      // of a step that is.
      monitor.log(known, step)
      if (Object.keys(feedback).length > 0) this.#feedback.push(feedback)
      const sampled = (this.#mark?.sampledTokens ?? 0) + sampledTokens(result)
      this.#mark = {
        version: 1,
        step,
        scheduler: state,
        feedback: [...this.#feedback],
        inputEnd,
        sampledTokens: sampled,
        counts: addExplorerStep(
          { ...this.counts, evaluations: this.#evaluationsBefore(step) },
          { rollouts, failed, made },
          steps,
        ),
      }
      return this.#mark
    }
    // Only the fixed style pairs explorer steps with training steps.
    const paired = config.synchronizer.sync_style === 'fixed' ? step : undefined
    const report = await spanned(spans, ['other', 'pipeline and buffer', step], () =>
      pipeline!.process(experiences, { who: config.explorer.name, signal, markOf, step: paired }),
    )
    this.#timeout.stepDone()
    this.#harvest.add(result, report)
    this.#parts.made?.(report.metrics['experience_pipeline/experience_count'] ?? 0)
    const late = Object.fromEntries(Object.entries(report.metrics).filter(([name]) => !(name in known)))
    monitor.log(late, step)
    view?.metrics('explorer', step, { ...known, ...late })
    view?.examples?.('explorer', step, extremes(experiences))
    this.#logger.info(`step ${step}: ${experiences.length} experiences of ${result.tasks.length} tasks`)
    this.#harvest.check(false)
  }

  /** Waits until at most `most` steps are under way; at a sync point also until nothing is being evaluated. */
  async #settle(most: number, signal: AbortSignal): Promise<void> {
    while (this.#open.length > most) {
      await this.#open[0].finished
      this.#open.shift()
    }
    if (most === 0) await this.#evaluation
    signal.throwIfAborted()
  }

  /** The synchronizer hears of every finished step in order; selectors learn what the steps have shown. */
  async #afterSteps(signal: AbortSignal, stop: AbortSignal): Promise<void> {
    const finished = this.#mark?.step ?? 0
    this.#tellSelectors()
    while (this.#told < finished) {
      this.#parts.view?.phase('explorer', `after step ${this.#told + 1}: weights`)
      await this.#sync(++this.#told, signal, stop)
    }
  }

  /** Weights that may be long in coming are not waited for by a run that was asked to end. */
  async #sync(step: number, signal: AbortSignal, stop: AbortSignal): Promise<void> {
    try {
      const { sync, spans } = this.#parts
      const either = AbortSignal.any([signal, stop])
      await spanned(spans, ['wait', 'waits for weights', step], () => sync.afterStep(step, either))
    } catch (error) {
      signal.throwIfAborted()
      if (!stop.aborted) throw error
    }
  }

  #tellSelectors(): void {
    for (const feedback of this.#feedback.splice(0)) {
      for (const [taskset, { indices, values }] of Object.entries(feedback)) {
        this.#scheduler().feedback(Number(taskset), indices, values)
      }
    }
  }

  /** The evaluation of the final weights takes the place of one that is due after the last step. */
  #evalDue(step: number): boolean {
    const { config, evalTasksets, leftToFinal, sync } = this.#parts
    const { eval_interval } = config.explorer
    if (eval_interval <= 0 || step % eval_interval !== 0 || evalTasksets.length === 0) return false
    return !this.#isLast(step) && !leftToFinal?.(step, sync.version)
  }

  #beginEvaluation(step: number, signal: AbortSignal, fail: Fail): void {
    this.#parts.view?.phase('explorer', `evaluation at step ${step}`)
    const evaluation = Promise.resolve(this.#evaluation).then(() => this.evaluate(step, { signal }))
    evaluation.catch(fail)
    this.#evaluation = evaluation
  }
}

type Fail = (error: unknown) => void
