import { ADVANTAGE, type PipelineReport } from '../pipeline/pipeline.js'
import { figure } from './terminal/number.js'

/**
 * Counts of a job over all its processes and resumptions. The trainer's part is stored in its checkpoint, the explorer's
 * part in the explorer's mark, so that a resumed run counts every step once.
 */
export interface RunCounts {
  readonly trainer?: TrainerCounts
  readonly explorer?: ExplorerCounts
}

export interface TrainerCounts {
  /** Updates of the policy and the critic that were applied. */
  readonly applied: number
  /** Updates that were not applied, because the loss or the gradient was not finite. */
  readonly refused: number
  /** Refused updates since the last applied one, by model. */
  readonly refusedInRow: Readonly<Record<string, number>>
  /** Applied updates that change weights, because their gradient and learning rate are above 0. */
  readonly moved: number
  /** Whether an applied update had a learning rate above 0. */
  readonly learns: boolean
  /** Experiences that were trained on; with replay, each use counts. */
  readonly trained: number
  /** Experiences that the trainer left out, by reason. */
  readonly skipped: Readonly<Record<string, number>>
  /** Steps in which nothing was left to train on. */
  readonly idleSteps: number
}

export interface ExplorerCounts {
  /** Rollouts for training, and those of them that failed. */
  readonly rollouts: number
  readonly failed: number
  /** Experiences of the rollouts that did not fail. */
  readonly made: number
  /** Experiences that operators or the advantage function left out, by operator and reason. */
  readonly dropped: Readonly<Record<string, number>>
  readonly evaluations: EvaluationCounts
}

/** Sums over all evaluations. */
export interface EvaluationCounts {
  readonly runs: number
  /** Rollouts that failed for another reason than a prompt that was too long. */
  readonly failedRuns: number
  /** Tasks with a prompt that was too long. */
  readonly tooLongTasks: number
}

export const NO_TRAINING: TrainerCounts = {
  applied: 0,
  refused: 0,
  refusedInRow: {},
  moved: 0,
  learns: false,
  trained: 0,
  skipped: {},
  idleSteps: 0,
}

export const NO_EVALUATIONS: EvaluationCounts = { runs: 0, failedRuns: 0, tooLongTasks: 0 }

export const NO_ROLLOUTS: ExplorerCounts = {
  rollouts: 0,
  failed: 0,
  made: 0,
  dropped: {},
  evaluations: NO_EVALUATIONS,
}

const MODELS = ['actor', 'critic'] as const

/** Adds a training step, from its metrics. */
export function addTrainingStep(
  counts: TrainerCounts,
  { metrics, trained }: { readonly metrics: Readonly<Record<string, number>>; readonly trained: number },
): TrainerCounts {
  let { applied, refused, moved, learns } = counts
  const refusedInRow = { ...counts.refusedInRow }
  for (const model of MODELS) {
    const [done, not] = [metrics[`${model}/updates`] ?? 0, metrics[`${model}/refused_updates`] ?? 0]
    applied += done
    refused += not
    refusedInRow[model] = done > 0 ? 0 : (refusedInRow[model] ?? 0) + not
    const isLearning = done > 0 && (metrics[`${model}/lr`] ?? 0) > 0
    learns ||= isLearning
    if (isLearning && metrics[`${model}/grad_norm`] > 0) moved += done
  }
  const prefix = 'sample/skipped/'
  const skipped = Object.entries(metrics).filter(([name]) => name.startsWith(prefix))
  return {
    applied,
    refused,
    refusedInRow,
    moved,
    learns,
    trained: counts.trained + trained,
    skipped: add(
      counts.skipped,
      skipped.map(([name, count]) => [name.slice(prefix.length).replaceAll('_', ' '), count]),
    ),
    idleSteps: counts.idleSteps + (trained === 0 ? 1 : 0),
  }
}

/** Adds an explorer step: its rollouts, and what each operator did with their experiences. */
export function addExplorerStep(
  counts: ExplorerCounts,
  step: Pick<ExplorerCounts, 'rollouts' | 'failed' | 'made'>,
  operators: PipelineReport['steps'],
): ExplorerCounts {
  const dropped = operators.flatMap((one) => {
    const named = Object.entries(one.dropped).map(([reason, count]) => [`${one.name}: ${reason}`, count] as const)
    const rest = one.in - one.out - total(one.dropped)
    return [...named, [one.name, Math.max(0, rest)] as const]
  })
  return {
    rollouts: counts.rollouts + step.rollouts,
    failed: counts.failed + step.failed,
    made: counts.made + step.made,
    dropped: add(counts.dropped, dropped),
    evaluations: counts.evaluations,
  }
}

/** Adds up evaluations. */
export function sumEvaluations(all: readonly EvaluationCounts[]): EvaluationCounts {
  return all.reduce(
    (sum, one) => ({
      runs: sum.runs + one.runs,
      failedRuns: sum.failedRuns + one.failedRuns,
      tooLongTasks: sum.tooLongTasks + one.tooLongTasks,
    }),
    NO_EVALUATIONS,
  )
}

/** Sums the parts of several explorers. */
export function sumExplorers(all: readonly ExplorerCounts[]): ExplorerCounts | undefined {
  if (all.length === 0) return undefined
  return all.reduce((sum, one) => ({
    rollouts: sum.rollouts + one.rollouts,
    failed: sum.failed + one.failed,
    made: sum.made + one.made,
    dropped: add(sum.dropped, Object.entries(one.dropped)),
    evaluations: sumEvaluations([sum.evaluations, one.evaluations]),
  }))
}

/** Returns the two lines at the end of a run: updates, then experiences. */
export function countLines({ trainer, explorer }: RunCounts): { label: string; text: string }[] {
  const lines: { label: string; text: string }[] = []
  if (trainer) {
    const change = trainer.moved > 0 ? 'weights changed' : 'weights did not change'
    const idle = trainer.idleSteps > 0 ? `, ${figure(trainer.idleSteps)} steps with nothing to train on` : ''
    lines.push({
      label: 'updates',
      text: `${figure(trainer.applied)} applied, ${figure(trainer.refused)} refused${idle}; ${change}`,
    })
  }
  const hasRollouts = explorer !== undefined && explorer.rollouts > 0
  const parts = [
    ...(hasRollouts
      ? [`${figure(explorer.made)} made`, `${figure(total(explorer.dropped))} dropped${reasons(explorer.dropped)}`]
      : []),
    ...(trainer ? [`${figure(trainer.trained)} trained`] : []),
    ...(trainer && total(trainer.skipped) > 0
      ? [`${figure(total(trainer.skipped))} left out by the trainer${reasons(trainer.skipped)}`]
      : []),
  ]
  const texts = [
    ...(parts.length > 0 ? [`experiences: ${parts.join(', ')}`] : []),
    ...(explorer && explorer.failed > 0 ? [failedRollouts(explorer)] : []),
    ...(explorer ? evaluationTexts(explorer.evaluations) : []),
  ]
  if (texts.length > 0) lines.push({ label: 'data', text: texts.join('; ') })
  return lines
}

/** Returns why a run made fewer steps than it was asked for, as far as the counts show it. */
export function lossesOf({ trainer, explorer }: RunCounts): string[] {
  const losses: string[] = []
  const dropped = explorer ? total(explorer.dropped) : 0
  if (explorer && dropped > 0)
    losses.push(`${figure(dropped)} of ${figure(explorer.made)} experiences were dropped${reasons(explorer.dropped)}`)
  if (explorer && explorer.failed > 0) losses.push(failedRollouts(explorer))
  const skipped = trainer ? total(trainer.skipped) : 0
  if (trainer && skipped > 0)
    losses.push(`the trainer left out ${figure(skipped)} experiences${reasons(trainer.skipped)}`)
  return losses
}

const MOST_REASONS = 3

function reasons(counts: Readonly<Record<string, number>>): string {
  const found = Object.entries(counts).sort(([, a], [, b]) => b - a)
  if (found.length === 0) return ''
  const shown = found
    .slice(0, MOST_REASONS)
    .map(([reason, count]) => `${figure(count)} × ${reason === ADVANTAGE ? 'by the advantage function' : reason}`)
  return ` (${[...shown, ...(found.length > MOST_REASONS ? ['…'] : [])].join(', ')})`
}

function evaluationTexts({ runs, failedRuns, tooLongTasks }: EvaluationCounts): string[] {
  const found = [
    ...(failedRuns > 0 ? [`${figure(failedRuns)} of ${figure(runs)} rollouts failed`] : []),
    ...(tooLongTasks > 0 ? [`${figure(tooLongTasks)} prompts were too long`] : []),
  ]
  return found.length > 0 ? [`in all evaluations: ${found.join(', ')}`] : []
}

const failedRollouts = ({ failed, rollouts }: ExplorerCounts): string =>
  `${figure(failed)} of ${figure(rollouts)} rollouts failed`

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)

function add(
  counts: Readonly<Record<string, number>>,
  more: Iterable<readonly [string, number]>,
): Record<string, number> {
  const sums = { ...counts }
  for (const [reason, count] of more) if (count > 0) sums[reason] = (sums[reason] ?? 0) + count
  return sums
}
