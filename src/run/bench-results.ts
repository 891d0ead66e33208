import { join } from 'node:path'
import { writeJsonFile } from '../base/file/atomic-file.js'
import { EVAL_SCORES, isMean } from '../base/score-names.js'
import { BENCH_RESULTS } from '../checkpoint/layout.js'

/** What the evaluation of a task set found. */
export interface TasksetResult {
  /** Absent: nothing of it says how good the answers are. */
  readonly score?: number
  /** Which of the metrics the score is. */
  readonly metric?: string
  readonly tasks: number
  /** Rollouts that failed; each counts as 0 in the score. */
  readonly failed_runs: number
  /** Tasks whose prompt was too long; each counts as 0 in the score. */
  readonly too_long_tasks: number
  readonly metrics: Readonly<Record<string, number>>
}

/** What was evaluated, and how it did on each task set. */
export interface BenchResult {
  /** 0: the model before training. */
  readonly step: number
  readonly path: string
  readonly seconds: number
  readonly tasksets: Readonly<Record<string, TasksetResult>>
}

/** The numbers of an evaluation, by task set: `bench/<set>/<metric>` is `<metric>` of the set. */
export function benchResult(
  { step, path }: Pick<BenchResult, 'step' | 'path'>,
  names: readonly string[],
  all: Readonly<Record<string, number>>,
): BenchResult {
  const tasksets = Object.fromEntries(names.map((name) => [name, tasksetResult(all, `bench/${name}/`)]))
  return { step, path, seconds: all['time/bench'] ?? 0, tasksets }
}

function tasksetResult(all: Readonly<Record<string, number>>, prefix: string): TasksetResult {
  const own = Object.entries(all).filter(([key]) => key.startsWith(prefix))
  const {
    finished_task_count: tasks = 0,
    failed_run_count: failed_runs = 0,
    too_long_task_count: too_long_tasks = 0,
    run_count: _,
    ...metrics
  } = Object.fromEntries(own.map(([key, value]): [string, number] => [key.slice(prefix.length), value]))
  const metric = EVAL_SCORES.flatMap((score) => Object.keys(metrics).find((key) => isMean(key, score)) ?? [])[0]
  const score = metric === undefined ? undefined : metrics[metric]
  return { score, metric, tasks, failed_runs, too_long_tasks, metrics }
}

/** One file for all that was evaluated, whole after each. */
export async function writeBenchResults(dir: string, model: string, results: readonly BenchResult[]): Promise<string> {
  const path = join(dir, BENCH_RESULTS)
  await writeJsonFile(path, { model, results })
  return path
}
