import type { Config } from '../config/index.js'
import type { ExplorerMark } from '../explorer/index.js'
import { type ExplorerCounts, lossesOf, type RunCounts } from '../monitor/run-counts.js'
import { figure } from '../monitor/terminal/number.js'
import { ADVANTAGE } from '../pipeline/pipeline.js'
import type { ModeEnd } from './job.js'

/**
 * Returns whether a run is asked for a number of steps. Without one, the end of the data is the end that was asked for;
 * so are `buffer.total_tokens` sampled tokens. `mark` is the explorer's, if the run has one.
 */
export function asksForSteps({ buffer, trainer }: Config, mark?: Pick<ExplorerMark, 'sampledTokens'>): boolean {
  const isSpent = buffer.total_tokens !== null && (mark?.sampledTokens ?? 0) >= buffer.total_tokens
  return !isSpent && (trainer.total_steps ?? buffer.total_steps) !== null
}

/**
 * Returns the training steps that a run is asked for, of the `total` that the tasks give. Without `trainer.total_steps`,
 * groups that the algorithm itself leaves out (DAPO) make fewer steps, not a partial run. In mode train,
 * `buffer.total_steps` is the default of that key.
 */
export function stepsAsked(
  { mode, trainer, buffer }: Config,
  total: number | undefined,
  { dropped }: Pick<ExplorerCounts, 'dropped'>,
): number | undefined {
  const isDefault = trainer.total_steps === null || (mode === 'train' && trainer.total_steps === buffer.total_steps)
  if (total === undefined || !isDefault) return total
  return total - Math.ceil((dropped[ADVANTAGE] ?? 0) / Math.max(1, buffer.train_batch_size))
}

/**
 * Returns how a run that was not asked to stop has ended. `asked` is undefined if it may end after any number of steps;
 * `otherwise` is the reason if the counts show none.
 */
export function endOf(
  steps: number,
  asked: number | undefined,
  counts: RunCounts,
  otherwise = 'the experiences ended',
): Pick<ModeEnd, 'end' | 'reason'> {
  const { trainer } = counts
  if (asked !== undefined && steps < asked) {
    const why = lossesOf(counts)
    const reason = why.length > 0 ? why.join('; ') : otherwise
    return { end: 'partial', reason: `after ${figure(steps)} of ${figure(asked)} steps: ${reason}` }
  }
  if (trainer?.learns && trainer.moved === 0) {
    const reason = `no update had a gradient above 0, so the weights did not change`
    return { end: 'partial', reason: `after ${figure(steps)} ${steps === 1 ? 'step' : 'steps'}: ${reason}` }
  }
  return { end: 'finished' }
}
