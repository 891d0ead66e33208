import { broadcast } from '../../engine/broadcast.js'
import type { WeightReceiver, WeightSender } from '../../engine/contract.js'
import { type LinkEnds, timed, type WeightLink } from './link.js'

/** Over a process group of the trainer and the samplers (NCCL on GPUs, gloo on processors). */
export function ncclLink(ends: LinkEnds): WeightLink {
  const { sender, receivers } = membersOf(ends)!
  const standing = { joined: false }
  return {
    way: 'nccl',
    transfer: (version, inFlight, call) => timed(() => broadcast(sender, receivers, version, inFlight, call, standing)),
  }
}

export function canBroadcast(ends: LinkEnds): boolean {
  return membersOf(ends) !== undefined
}

/** Members that speak one protocol and are not one process; undefined: there is no such group. */
function membersOf({ from, to }: LinkEnds): { sender: WeightSender; receivers: WeightReceiver[] } | undefined {
  const { sender } = from
  if (!sender) return undefined
  const receivers = to.flatMap(({ receiver, home }) =>
    receiver?.protocol === sender.protocol && home !== from.home ? [receiver] : [],
  )
  return receivers.length === to.length ? { sender, receivers } : undefined
}
