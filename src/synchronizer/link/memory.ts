import { type LinkEnds, timed, type WeightLink } from './link.js'

/** Inside one home: the samplers take the weights where they lie. */
export function memoryLink({ from, to }: LinkEnds): WeightLink {
  return {
    way: 'memory',
    transfer: (version, inFlight, call) => timed(() => from.handOver(to, version, inFlight, call)),
  }
}

export function sharesMemory({ from, to }: LinkEnds): boolean {
  return to.every(({ home }) => home === from.home)
}
