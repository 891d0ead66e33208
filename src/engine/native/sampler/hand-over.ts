import type { InFlight } from '../../contract.js'
import type { NativeModel } from '../native-model.js'
import { type NativeSnapshot, samplingAddon } from './addon.js'
import type { NativeSampleModel } from './native-sampler.js'

/** Models of this process share its memory. */
export const NATIVE_HOME = { where: 'this process' }

/** Hands a snapshot from a trained model to samplers of the same process: nothing is copied, nobody sees half of one. */
export async function handOver(
  from: NativeModel,
  to: readonly NativeSampleModel[],
  version: number,
  inFlight: InFlight,
  signal: AbortSignal,
): Promise<string> {
  const addon = samplingAddon()
  from.check()
  const snapshot = await addon.snapshot(from.handle)
  try {
    const checksum = await addon.checksum(snapshot)
    await deliver(snapshot, to, version, inFlight, signal)
    return checksum
  } finally {
    addon.releaseSnapshot(snapshot)
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
