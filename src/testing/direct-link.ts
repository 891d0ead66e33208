import type { Engine, SampleModel, TrainModel } from '../engine/contract.js'
import { openLink, type WeightLink } from '../synchronizer/index.js'

/** Joins models of one engine by anything but a folder. */
export function directLink(engine: Engine, from: TrainModel, to: readonly SampleModel[]): WeightLink {
  const write = async (): Promise<never> => {
    throw new Error('these weights were not to be written')
  }
  return openLink({ from, to, sends: engine, takes: engine }, { method: 'nccl', write })
}
