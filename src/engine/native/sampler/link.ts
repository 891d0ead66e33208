import { within } from '../../calls.js'
import type { Call, InFlight, WeightLink } from '../../contract.js'
import type { NativeModel } from '../native-model.js'
import { type NativeSnapshot, samplingAddon } from './addon.js'
import type { NativeSampleModel } from './native-sampler.js'

/** Hands snapshots from a trained model to samplers of the same process: nothing is copied, nobody sees half of one. */
export class NativeWeightLink implements WeightLink {
  readonly #from: NativeModel
  readonly #to: readonly NativeSampleModel[]

  constructor(from: NativeModel, to: readonly NativeSampleModel[]) {
    this.#from = from
    this.#to = to
  }

  transfer(version: number, inFlight: InFlight, call: Call): Promise<{ ms: number; checksum: string }> {
    return within(call, `transfer of weights ${version}`, async (signal) => {
      const begin = performance.now()
      const addon = samplingAddon()
      this.#from.check()
      const snapshot = await addon.snapshot(this.#from.handle)
      try {
        const checksum = await addon.checksum(snapshot)
        await deliver(snapshot, this.#to, version, inFlight, signal)
        return { ms: performance.now() - begin, checksum }
      } finally {
        addon.releaseSnapshot(snapshot)
      }
    })
  }
}

/** Gives all samplers the same weights, or leaves every one of them as it was. */
export async function deliver(
  snapshot: NativeSnapshot,
  to: readonly NativeSampleModel[],
  version: number,
  inFlight: InFlight,
  signal: AbortSignal,
): Promise<void> {
  for (const sampler of to) sampler.checkFit(snapshot)
  const holds = await Promise.allSettled(to.map((sampler) => sampler.hold(inFlight, signal)))
  try {
    for (const hold of holds) if (hold.status === 'rejected') throw hold.reason
    signal.throwIfAborted()
    // From here to the end nothing waits.
    for (const sampler of to) sampler.install(snapshot, version)
  } finally {
    for (const hold of holds) if (hold.status === 'fulfilled') hold.value()
  }
}
