import { type EvaluationPlan, Explorer, type ExplorerParts } from '../explorer/index.js'
import { backlogWatch } from './backlog.js'
import type { Job } from './job.js'
import { watchedSamplers } from './watched-sampler.js'

/** What the explorer of a mode works with, besides what every mode has. */
type Needs = Pick<
  ExplorerParts,
  | 'model'
  | 'text'
  | 'auxiliary'
  | 'place'
  | 'scheduler'
  | 'evalTasksets'
  | 'pipeline'
  | 'buffer'
  | 'sync'
  | 'monitor'
  | 'leftToFinal'
>

/** An explorer that trains something: it keeps the best evaluation of the job, and says when the trainer falls behind. */
export function makeExplorer(job: Job, needs: Needs): Explorer {
  const { config, view, logs, checkpoints, closers, note } = job
  const bestEval = async ({ version, metrics }: EvaluationPlan) => {
    await checkpoints
      .recordEval(version, metrics)
      .catch((error) => note(`no best evaluation is kept: ${error.message}`))
  }
  return closers.add(
    new Explorer({
      ...needs,
      model: watchedSamplers(needs.model, job.spans, closers, () => job.startup.sampled()),
      ...{ config, view, logs, bestEval, spans: job.spans?.lane(config.explorer.name) },
      made: backlogWatch(config, note),
    }),
  )
}
