import { TrinityError } from '../base/error.js'
import { within } from './calls.js'
import type { Call, InFlight, WeightReceiver, WeightSender } from './contract.js'

/** A process group that stands, for the next transfer between the same members. */
export interface Standing {
  joined: boolean
  /** Of the receivers when they joined. */
  generations?: string
}

/**
 * Weights from a trained model to samplers in other processes: samplers are brought to a point between two steps, receive
 * the weights beside those in use, and take them when everybody has the same. Gives the checksum.
 */
export function broadcast(
  sender: WeightSender,
  to: readonly WeightReceiver[],
  version: number,
  inFlight: InFlight,
  call: Call,
  standing: Standing = { joined: false },
): Promise<string> {
  return within(call, `transfer of weights ${version}`, async (signal) => {
    const holds = await Promise.allSettled(to.map((receiver) => receiver.hold(inFlight, signal)))
    const held = to.filter((_, i) => holds[i].status === 'fulfilled')
    let checksum: string
    try {
      for (const hold of holds) if (hold.status === 'rejected') throw hold.reason
      checksum = await carry(sender, to, standing, signal)
      signal.throwIfAborted()
    } catch (error) {
      standing.joined = false
      // whoever still can goes on as before
      await Promise.allSettled(held.map((receiver) => receiver.commit()))
      throw error
    }
    await Promise.all(held.map((receiver) => receiver.commit(version)))
    return checksum
  })
}

/** Everybody's copy, compared. */
async function carry(
  sender: WeightSender,
  to: readonly WeightReceiver[],
  standing: Standing,
  signal: AbortSignal,
): Promise<string> {
  const generations = to.map(({ generation }) => generation).join(' ')
  if (!standing.joined || standing.generations !== generations) {
    standing.joined = false
    const sizes = to.map(({ members = 1 }) => members)
    const group = await sender.offer(sizes.reduce((a, b) => a + b, 1))
    let rank = 0
    const joins = [sender.join(group, 0, signal)]
    for (const [i, receiver] of to.entries()) {
      joins.push(receiver.join(group, rank + 1, signal))
      rank += sizes[i]
    }
    await all(joins)
    Object.assign(standing, { joined: true, generations })
  }
  const sums = new Set(await all([sender.send(signal), ...to.map((receiver) => receiver.receive(signal))]))
  if (sums.size === 1) return [...sums][0]
  throw new TrinityError('engine/checksum', 'the weights that arrived differ from those that were sent', {
    hint: 'the samplers keep the weights they had; check the memory of this machine for faults',
  })
}

/** All answers. The first error, once everybody has ended: nobody is left behind in an exchange. */
async function all<T>(answers: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(answers)
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}
