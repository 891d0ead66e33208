import type { AdamStep, Batch, ForwardBackward, Loss, TrainModel } from '../../src/engine/contract.js'

/** What was asked of a model that learns, and what it answered. */
export type TapeEntry =
  | { readonly kind: 'learn'; readonly batch: Batch; readonly loss: Loss; readonly result: ForwardBackward }
  | { readonly kind: 'step'; readonly step: AdamStep; readonly gradNorm: number }

/** The same model; what changes it is written down. */
export function recorded(model: TrainModel, tape: TapeEntry[]): TrainModel {
  return new Proxy(model, {
    get(target, key) {
      if (key === 'forwardBackward') {
        return async (...[batch, loss, call]: Parameters<TrainModel['forwardBackward']>) => {
          const result = await target.forwardBackward(batch, loss, call)
          tape.push({ kind: 'learn', batch, loss, result })
          return result
        }
      }
      if (key === 'optimStep') {
        return async (...[step, call]: Parameters<TrainModel['optimStep']>) => {
          const result = await target.optimStep(step, call)
          tape.push({ kind: 'step', step, gradNorm: result.gradNorm })
          return result
        }
      }
      const value = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
