import { z } from 'zod'
import { parseArguments } from '../base/arguments.js'
import type { Wire } from '../dialect/dialect.js'
import { groupBy, rid, tid } from '../experience/experience.js'
import type { Experience } from '../experience/index.js'
import { type Metrics, ofBatch } from '../explorer/metrics.js'
import { runMetrics } from '../explorer/stamp.js'
import { combine } from '../monitor/combine.js'
import type { Monitor } from '../monitor/monitor.js'
import type { RunView } from '../monitor/view.js'
import type { Commits } from './commits.js'
import { readFeedback } from './feedback.js'
import type { History } from './history.js'
import type { Rotation } from './rotation.js'

export interface ServiceParts {
  readonly history: History
  readonly commits: Commits
  readonly samplers: Pick<Rotation, 'counts'>
  readonly monitor: Pick<Monitor, 'log'>
  readonly view?: Pick<RunView, 'metrics'>
}

/** What agents elsewhere can ask for beside answers: that one was good or bad, and that the trainer gets what is known. */
export class Service {
  readonly #parts: ServiceParts

  constructor(parts: ServiceParts) {
    this.#parts = parts
  }

  /** `POST /feedback` */
  async feedback(body: Wire): Promise<Wire> {
    const { rated, before } = await this.#parts.history.rate(readFeedback(body))
    return { status: 'success', count: rated, known: before }
  }

  /** `POST /commit` */
  async commit(body: Wire): Promise<Wire> {
    parseArguments('commit', z.strictObject({}), body, 'commit')
    const { commits, monitor, view } = this.#parts
    const { step, experiences, metrics } = await commits.commit()
    if (experiences.length > 0) {
      const all = { ...metrics, ...rolloutMetrics(experiences), ...this.metrics() }
      monitor.log(all, step)
      view?.metrics('explorer', step, all)
    }
    return { status: 'success', count: experiences.length, step }
  }

  /** Under the names of the reference's proxy. */
  metrics(): Record<string, number> {
    const { history, commits, samplers } = this.#parts
    const engines = samplers.counts.map(({ requests, version }, i) => ({
      [`rollout/model_${i}/total_request_count`]: requests,
      [`rollout/model_${i}/model_version`]: version,
    }))
    return Object.assign({}, ...engines, {
      'rollout/total_experience_count': history.total,
      'rollout/ready_experience_count': history.rated,
      explore_step_num: commits.step,
    })
  }
}

/** As an explorer that runs tasks has them: of runs, then of tasks, then of all. */
function rolloutMetrics(experiences: readonly Experience[]): Metrics {
  const tasks = [...groupBy(experiences, tid).values()].map((task) =>
    combine([...groupBy(task, rid).values()].map((run) => runMetrics(run, {}))),
  )
  return { ...ofBatch('rollout', tasks), 'rollout/finished_task_count': tasks.length }
}
