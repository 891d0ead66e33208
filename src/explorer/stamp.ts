import { TrinityError } from '../base/error.js'
import { deriveSeed } from '../base/random/derive-seed.js'
import { NOTE_KINDS, type NoteCounts, type NoteKind } from '../dialect/request-notes.js'
import type { DivergenceCounts } from '../experience/divergence.js'
import type { Experience } from '../experience/index.js'
import { combine } from '../monitor/combine.js'
import type { RolloutJob } from './job.js'
import type { Metrics } from './metrics.js'

/** Says of each experience where it comes from. Same run, same ids: nothing here is random. */
export function stamp(
  experiences: readonly Experience[],
  job: RolloutJob,
  runs: { first: number; count: number },
  seed: number,
  drift: number,
): void {
  const { index } = job.task
  for (const [i, experience] of experiences.entries()) {
    const { eid, info } = experience
    eid.batch = job.batch
    if (eid.task === '') eid.task = job.taskId
    // a second attempt in the same run has a number of its own
    if (runs.count === 1) eid.run ||= runs.first
    else checkRun(eid.run, runs)
    const number = deriveSeed(seed, job.batch, job.taskId, eid.run, eid.step, i)
    eid.suffix = (number % 0x1000000).toString(16).padStart(6, '0')
    info.task_index ??= { taskset_id: index.taskset, index: index.row }
    info.model_version_drift = drift
  }
}

function checkRun(run: number, { first, count }: { first: number; count: number }): void {
  if (run >= first && run < first + count) return
  throw new TrinityError('workflow/run', `an experience has eid.run ${run}, expected ${first} … ${first + count - 1}`, {
    hint: 'a workflow with `repeats = true` sets eid.run = context.run + i for its i-th run',
  })
}

/** Tokens that the policy has written in a run; a step has those of all its runs. */
export const SAMPLED_TOKENS = 'sampled_tokens:sum'

/** How many there were in a run, and for each reason that there was how many in a step. */
export function divergenceMetrics(diverged: DivergenceCounts, repeat: number): Metrics {
  const found = Object.entries(diverged).filter(([, count]) => count > 0)
  return {
    token_divergences: found.reduce((sum, [, count]) => sum + count, 0),
    ...Object.fromEntries(found.map(([reason, count]) => [`token_divergences/${reason}:sum`, count / repeat])),
  }
}

/** Metric of each kind of note on a request. */
const NOTE_METRICS: Readonly<Record<NoteKind, string>> = {
  field: 'ignored_request_fields',
  tool: 'dropped_tools',
  media: 'replaced_media',
}

/** Returns how many fields, tools and media requests of a run lost, by label, for the sum over a step. */
export function requestMetrics(notes: NoteCounts, repeat: number): Metrics {
  return Object.fromEntries(
    NOTE_KINDS.flatMap((kind) =>
      Object.entries(notes[kind]).map(([label, count]) => [`${NOTE_METRICS[kind]}/${label}:sum`, count / repeat]),
    ),
  )
}

/** The numbers of one run, from its experiences. */
export function runMetrics(experiences: readonly Experience[], extra: Metrics): Metrics {
  // What a workflow calls the reward of its run is not averaged with what it made beside.
  const isTold = experiences.some(({ metrics }) => metrics.reward !== undefined)
  const each = experiences.map(({ tokens, promptLength, reward, metrics }) => ({
    prompt_length: promptLength,
    response_length: tokens.length - promptLength,
    ...(reward === undefined || isTold ? {} : { reward }),
    ...metrics,
  }))
  return { ...combine(each), ...extra }
}
