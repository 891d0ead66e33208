import type { Config } from '../config/index.js'
import type { Explorer } from '../explorer/index.js'
import { scheduleOf } from '../synchronizer/index.js'
import type { TrainerEnd } from '../trainer/index.js'

/** Explorer step that a training step is paired with. */
function explorerStepOf(config: Config, trained: number): number {
  const { explorer_sync_interval, trainer_sync_interval } = scheduleOf(config)
  return Math.ceil((trained * explorer_sync_interval) / trainer_sync_interval)
}

/**
 * Returns which evaluations are left to the one of the final weights, in a run of `last` training steps: those of the
 * final weights, the one that would have its number, and those of an explorer that is ahead and waits for the end of the
 * trainer. The trainer ends the explorer, so how far it would get with them depends on timing.
 */
export function leftToFinal(config: Config, last: number | undefined): (step: number, version: number) => boolean {
  if (last === undefined) return () => false
  const { explorer_sync_interval, trainer_sync_interval, sync_offset } = scheduleOf(config)
  const end = explorerStepOf(config, last)
  const ahead = trainer_sync_interval * (1 + sync_offset / explorer_sync_interval)
  return (step, version) => step === end || last - version < (step > end ? ahead : 1)
}

export interface FinalEvaluation {
  readonly config: Config
  readonly explorer: Pick<Explorer, 'step' | 'mark' | 'evaluated' | 'evaluate'>
  /** Training steps of the final weights. */
  readonly trained: number
  readonly end: TrainerEnd
  readonly signal: AbortSignal
  readonly begin: () => void
}

/** Whether a run evaluates its final weights. */
export function evaluatesFinal({ buffer, explorer }: Config): boolean {
  return buffer.explorer_input.eval_tasksets.length > 0 && explorer.eval_interval > 0
}

/**
 * Evaluates the final weights, unless they were the last that were evaluated. Weights that were never trained are
 * evaluated only where the last step has an evaluation.
 */
export async function evaluateFinal({ config, explorer, trained, end, signal, begin }: FinalEvaluation): Promise<void> {
  if (!evaluatesFinal(config) || explorer.evaluated.version === trained) return
  if (trained === 0 && explorer.step % config.explorer.eval_interval !== 0) return
  begin()
  await explorer.evaluate(finalStep(config, explorer, trained, end), { signal })
}

/**
 * Number of the last step, as the explorer counts. Explorer and trainer that are paired one to one have the same last
 * step. An explorer that made more steps, because experiences were dropped, and evaluated there gets a later number.
 */
function finalStep(config: Config, explorer: FinalEvaluation['explorer'], trained: number, end: TrainerEnd): number {
  const step = end === 'end_of_data' ? explorer.step : explorerStepOf(config, trained)
  const { step: evaluated } = explorer.evaluated
  return evaluated < step ? step : Math.max(explorer.mark?.step ?? 0, evaluated + 1)
}
