import { EVAL_SCORES } from '../base/score-names.js'
import { mean } from '../monitor/combine.js'
import type { EvaluationCounts } from '../monitor/run-counts.js'
import type { Task, Taskset } from '../task/index.js'
import { allFailed } from './all-failed.js'
import { failuresOf, type RolloutBatchResult } from './batch.js'
import type { RolloutResult } from './job.js'
import { type Metrics, ofEvalSet, ofEvalTask } from './metrics.js'
import type { RolloutScheduler } from './scheduler.js'

export interface EvaluationOptions {
  /** Step that the evaluation belongs to: rollouts of lower steps run first. */
  readonly step: number
  /** Version of the weights. The random numbers depend on it and not on the step. */
  readonly version: number
  readonly prefix: 'eval' | 'bench'
  readonly detailed: boolean
  readonly maxRepeat?: number
  readonly signal?: AbortSignal
}

/** Evaluation of one task set. */
export interface TasksetEvaluation {
  /** `<prefix>/<taskset>/…` */
  readonly metrics: Metrics
  readonly counts: EvaluationCounts
}

/** Tasks that are read at a time. */
const PORTION = 1024

/**
 * Runs every task of the set. A rollout without an answer, because it failed or because its prompt was too long, counts
 * as 0 in every score. Throws if all rollouts failed.
 */
export async function evaluateTaskset(
  taskset: Taskset,
  rollouts: RolloutScheduler,
  { step, version, prefix, detailed, maxRepeat, signal }: EvaluationOptions,
): Promise<TasksetEvaluation> {
  const tasks: Task[] = []
  for await (const portion of taskset.batches(PORTION)) tasks.push(...portion)
  signal?.throwIfAborted()
  const batch = rollouts.submit({ id: `${version}/${taskset.name}`, order: step, kind: 'eval', tasks, maxRepeat })
  const abort = () => batch.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  try {
    const result = await batch.done
    const failures = failuresOf(result)
    if (failures.runs > 0 && failures.failed === failures.runs) {
      throw allFailed(`evaluation of '${taskset.name}'`, failures, {
        path: 'buffer.explorer_input.eval_tasksets',
        hint: 'log/explorer_runner_*.log has every failure',
      })
    }
    const name = `${prefix}/${taskset.name}`
    const counts = countsOf(result)
    const metrics = {
      ...ofEvalSet(name, taskMetrics(result), detailed),
      ...finishedMeans(name, result),
      [`${name}/finished_task_count`]: result.tasks.length,
      [`${name}/run_count`]: counts.runs,
      [`${name}/failed_run_count`]: counts.failedRuns,
      [`${name}/too_long_task_count`]: counts.tooLongTasks,
    }
    return { metrics, counts }
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

function isAnswered({ failure, isTooLong = false }: RolloutResult): boolean {
  return failure === undefined && !isTooLong
}

function taskMetrics(result: RolloutBatchResult): Metrics[] {
  const scores = scoresIn(result)
  const all = scores.size === 0 ? ['reward'] : [...new Set([...scores.values()].flat())]
  return result.tasks.map(({ task, runs, seconds }) => {
    const answered = runs.filter(isAnswered)
    const missing = runs.length - answered.length
    const metrics = answered.map((run) => run.metrics)
    return { ...ofEvalTask(metrics, missing, scores.get(task.workflow) ?? all), 'time/task_execution': seconds }
  })
}

/** Returns the scores that each workflow gives, as its answered rollouts show. */
function scoresIn({ tasks }: RolloutBatchResult): Map<string, string[]> {
  const found = new Map<string, Set<string>>()
  for (const { task, runs } of tasks) {
    for (const { metrics } of runs.filter(isAnswered)) {
      const known = found.get(task.workflow) ?? new Set()
      for (const name of EVAL_SCORES) if (Number.isFinite(metrics[name])) known.add(name)
      found.set(task.workflow, known)
    }
  }
  return new Map([...found].map(([workflow, names]) => [workflow, [...names]]))
}

/** `<name>/<score>/finished_mean`: mean over the answered rollouts alone; empty if every rollout has an answer. */
function finishedMeans(name: string, { tasks }: RolloutBatchResult): Metrics {
  const runs = tasks.flatMap((task) => task.runs)
  const answered = runs.filter(isAnswered)
  if (answered.length === runs.length) return {}
  const means = EVAL_SCORES.flatMap((score) => {
    const values = answered.map(({ metrics }) => metrics[score]).filter(Number.isFinite)
    return values.length === 0 ? [] : [[`${name}/${score}/finished_mean`, mean(values)] as const]
  })
  return Object.fromEntries(means)
}

function countsOf({ tasks }: RolloutBatchResult): EvaluationCounts {
  const runs = tasks.flatMap((task) => task.runs)
  return {
    runs: runs.length,
    failedRuns: runs.filter(({ failure, isTooLong }) => failure !== undefined && !isTooLong).length,
    tooLongTasks: tasks.filter((task) => task.runs.some(({ isTooLong }) => isTooLong)).length,
  }
}
