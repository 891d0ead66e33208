import type { Call, InFlight, SampleModel, TrainModel, WeightWay } from '../../engine/contract.js'

export interface Transferred {
  readonly ms: number
  readonly checksum?: string
}

/** Carries versions of the weights from a trained model to samplers of any engines. */
export interface WeightLink {
  readonly way: WeightWay
  transfer(version: number, inFlight: InFlight, call: Call): Promise<Transferred>
}

/** A trained model and the samplers that follow it, with what their engines can do. */
export interface LinkEnds {
  readonly from: TrainModel
  readonly to: readonly SampleModel[]
  readonly sends: LinkEngine
  readonly takes: LinkEngine
}

export interface LinkEngine {
  readonly name: string
  readonly caps: { readonly weights: readonly WeightWay[] }
}

/** Runs a transfer and says how long it took. */
export async function timed(work: () => Promise<string | undefined>): Promise<Transferred> {
  const begin = performance.now()
  const checksum = await work()
  return { ms: performance.now() - begin, checksum }
}
