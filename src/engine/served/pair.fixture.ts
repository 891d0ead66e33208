import type { Engine } from '../contract.js'

/** What trains and what samples, as one engine: the suite of the contract holds a pair to it as well. */
export function pairOf(trains: Engine, samples: Engine): Engine {
  return {
    name: `${samples.name} beside ${trains.name}`,
    get caps() {
      const { caps } = samples
      const weights = caps.weights.filter((way) => trains.caps.weights.includes(way))
      return { ...caps, train: true, heads: trains.caps.heads, lora: trains.caps.lora, weights }
    },
    openTrain: (spec, call) => trains.openTrain(spec, call),
    openScore: (spec, call) => trains.openScore(spec, call),
    openReward: (spec, call) => trains.openReward(spec, call),
    openSample: ({ shareWith: _, ...spec }, call) => samples.openSample(spec, call),
    close: async () => void (await Promise.all([trains.close(), samples.close()])),
  }
}
