import type { Explorer } from '../explorer/index.js'
import type { Synchronizer } from '../synchronizer/index.js'
import type { Trainer, TrainerEnd } from '../trainer/index.js'
import { RunOver, type Stop } from './stop.js'

export interface Sides {
  readonly explorer: Pick<Explorer, 'run'>
  readonly trainer: Pick<Trainer, 'run' | 'step'>
  readonly sync: Pick<Synchronizer, 'explorerEnded' | 'trainerEnded'>
  readonly stop: Stop
}

/**
 * Runs both loops until both have ended. The first failure aborts the other side and is what this fails with. A trainer
 * that has all its steps, or was asked to stop, ends the explorer; an explorer at its end lets the trainer finish.
 */
export async function runSides({ explorer, trainer, sync, stop }: Sides): Promise<{ end: TrainerEnd }> {
  const failed = new AbortController()
  const over = new AbortController()
  const all = AbortSignal.any([failed.signal, stop.now])
  const exploring = async () => {
    const signal = AbortSignal.any([all, over.signal])
    try {
      await explorer.run(signal)
      await sync.explorerEnded(signal)
    } catch (error) {
      if (over.signal.aborted && !all.aborted) return
      failed.abort(error)
      throw error
    }
  }
  const training = async () => {
    try {
      const end = await trainer.run(all, stop.gentle)
      await sync.trainerEnded(trainer.step, all)
      if (end !== 'end_of_data') over.abort(new RunOver('the trainer has ended'))
      return end
    } catch (error) {
      failed.abort(error)
      throw error
    }
  }
  const [, end] = await Promise.allSettled([exploring(), training()])
  stop.now.throwIfAborted()
  failed.signal.throwIfAborted()
  if (end.status === 'rejected') throw end.reason
  return { end: end.value }
}
