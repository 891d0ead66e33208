import { TrinityError } from '../base/error.js'
import type { SampleModel } from '../engine/contract.js'
import type { Experience } from '../experience/index.js'
import { combine } from '../monitor/combine.js'
import { allFailed } from './all-failed.js'
import { failuresOf, type RolloutBatchResult } from './batch.js'
import { type Metrics, ofBatch } from './metrics.js'
import { SAMPLED_TOKENS } from './stamp.js'

/** The experiences of a step in order of task and run. A step in which every run failed is a failure of the whole. */
export function trainExperiences(step: number, result: RolloutBatchResult): Experience[] {
  const failures = failuresOf(result)
  const { runs, failed } = failures
  if (failed < runs) return result.tasks.flatMap((task) => task.runs.flatMap((run) => run.experiences))
  if (runs === 0) {
    throw new TrinityError('explorer/all-failed', `step ${step}: no task finished`, {
      path: 'explorer',
      hint: 'raise explorer.over_rollout.wait_after_min',
    })
  }
  throw allFailed(`step ${step}`, failures, {
    path: 'explorer',
    hint: 'log/explorer_runner_*.log has every failure; `trinity debug --module workflow` runs one task by itself',
  })
}

export function stepMetrics(result: RolloutBatchResult): Metrics {
  const { failed, reasons } = failuresOf(result)
  const tasks = result.tasks.map(({ runs, complete, seconds }) => ({
    ...combine(runs.filter(({ failure }) => !failure).map(({ metrics }) => metrics)),
    ...(complete ? { 'time/task_execution': seconds } : {}),
  }))
  const retried = result.tasks.reduce((sum, { runs }) => sum + runs.filter(({ attempts }) => attempts > 1).length, 0)
  const counts: Record<string, number> = {
    'rollout/finished_task_count': result.tasks.length,
    'rollout/cut_task_count': result.cut,
    'rollout/failed_run_count': failed,
    'rollout/retried_run_count': retried,
  }
  for (const [reason, count] of Object.entries(reasons)) counts[`rollout/failed/${reason}`] = count
  return { ...ofBatch('rollout', tasks), ...counts }
}

/** Tokens that were sampled for the runs of a step that ended well. */
export function sampledTokens({ tasks }: RolloutBatchResult): number {
  return tasks.flatMap(({ runs }) => runs).reduce((sum, { metrics }) => sum + (metrics[SAMPLED_TOKENS] ?? 0), 0)
}

/** Tokens per second of the samplers, from one step to the next. */
export class Speed {
  readonly #samplers: readonly SampleModel[]
  #at = performance.now()
  #before = { sampled: 0, prompt: 0, cached: 0 }

  constructor(samplers: readonly SampleModel[]) {
    // One sampler may stand for several engines.
    this.#samplers = [...new Set(samplers)]
  }

  take(): Record<string, number> {
    const now = performance.now()
    const total = { sampled: 0, prompt: 0, cached: 0 }
    for (const sampler of this.#samplers) {
      const stats = sampler.stats()
      total.sampled += stats.sampledTokens
      total.prompt += stats.promptTokens
      total.cached += stats.cachedTokens
    }
    const sampled = total.sampled - this.#before.sampled
    const prompt = total.prompt - this.#before.prompt
    const cached = total.cached - this.#before.cached
    const seconds = (now - this.#at) / 1000
    this.#at = now
    this.#before = total
    return {
      'explorer/sampled_tokens': sampled,
      'explorer/tokens_per_second': seconds > 0 ? sampled / seconds : 0,
      'explorer/prefix_cache_hit_ratio': prompt > 0 ? cached / prompt : 0,
    }
  }
}
