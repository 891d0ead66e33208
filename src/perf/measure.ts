import { hostname } from 'node:os'
import { join } from 'node:path'
import { messageOf, TrinityError } from '../base/error.js'
import type { Config } from '../config/index.js'
import { forward } from '../monitor/forward.js'
import { MetricsFile } from '../monitor/metrics-file.js'
import type { RunView } from '../monitor/view.js'
import type { PerfModule, PerfReport } from './report.js'
import { Resources } from './resources.js'
import { timingOf } from './timing.js'

export interface Measured {
  readonly module: PerfModule
  /** The file that was given. */
  readonly configPath: string
  readonly config: Config
  readonly intervalSeconds: number
  readonly output: string
  readonly view: RunView
  /** Runs the job to its end, showing it to this view. */
  run(view: RunView): Promise<unknown>
}

/** Runs a job and says how long it took, how fast it was, and what it used. A failure is part of the report. */
export async function measure(measured: Measured): Promise<PerfReport> {
  const { config, module, intervalSeconds: interval, output } = measured
  const resources = new Resources(interval)
  const begun = performance.now()
  let working: number | undefined
  const view: RunView = {
    ...forward(measured.view),
    phase(role, what) {
      if (role !== 'model') working ??= performance.now()
      measured.view.phase(role, what)
    },
  }
  let failure: unknown
  await measured.run(view).catch((error: unknown) => {
    failure = error
  })
  const end = performance.now()
  await resources.close()
  const steps = stepsOf(config.monitor.cache_dir)
  const began = working ?? end
  return {
    run_meta: {
      ...{ module, config_path: measured.configPath, explorer_name: config.explorer.name },
      ...{ monitor_interval_sec: interval, hostname: hostname(), pid: process.pid, generated_at: Date.now() / 1000 },
    },
    timing: timingOf((began - begun) / 1000, (end - began) / 1000, steps),
    resource_timeline: resources.samples,
    step_metrics: steps,
    artifacts: {
      checkpoint_job_dir: config.checkpoint_job_dir,
      tensorboard_dir: join(config.monitor.cache_dir, 'tensorboard'),
      log_dir: config.log.save_dir,
      output_json: output,
    },
    status: {
      success: failure === undefined,
      error: failure === undefined ? null : wordsOf(failure),
      gpu_metrics_available: resources.samples.some(({ gpu_metrics: gpus }) => gpus.length > 0),
      tensorboard_metrics_available: steps.length > 0,
    },
  }
}

/** The numbers of each step that the explorer has made, with those of the trainer where it made one too. */
function stepsOf(dir: string): Record<string, number>[] {
  const rows = (role: string) => new MetricsFile(join(dir, `${role}.jsonl`)).rows()
  const trained = new Map(rows('trainer').map(({ step, metrics }) => [step, metrics]))
  return rows('explorer')
    .filter(({ metrics }) => 'rollout/finished_task_count' in metrics)
    .map(({ step, metrics }) => ({ step, ...trained.get(step), ...metrics }))
}

function wordsOf(error: unknown): string {
  const hint = error instanceof TrinityError && error.hint ? `\n${error.hint}` : ''
  return `${messageOf(error)}${hint}`
}
