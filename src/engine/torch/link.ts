import { within } from '../calls.js'
import type { Call, InFlight, WeightLink } from '../contract.js'
import type { TorchSampleModel } from './sampler.js'
import type { TorchTrainModel } from './train.js'

/** Weights from a trained model to samplers of the same workers. */
export class TorchWeightLink implements WeightLink {
  readonly #from: TorchTrainModel
  readonly #to: readonly TorchSampleModel[]

  constructor(from: TorchTrainModel, to: readonly TorchSampleModel[]) {
    this.#from = from
    this.#to = to
  }

  transfer(version: number, inFlight: InFlight, call: Call): Promise<{ ms: number; checksum: string }> {
    return within(call, `transfer of weights ${version}`, async (signal) => {
      const begin = performance.now()
      for (const sampler of this.#to) sampler.check()
      const to = this.#to.map((sampler) => sampler.handle)
      const { result } = await this.#from.ask('transfer', { to, version, inFlight }, signal)
      for (const sampler of this.#to) sampler.version = version
      return { ms: performance.now() - begin, checksum: String(result.checksum) }
    })
  }
}
