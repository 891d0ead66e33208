import { deriveSeed } from '../../base/random/derive-seed.js'
import { Pcg64 } from '../../base/random/index.js'
import type { Experience } from '../../experience/experience.js'

/**
 * Standard normal numbers that follow from the seed, the experience and how often it was used: never from when it came,
 * so that a run that goes on after a kill draws the same.
 */
export class Noise {
  readonly #seed: number

  constructor(seed: number) {
    this.#seed = seed
  }

  of({ eid, modelVersion, useCount }: Pick<Experience, 'eid' | 'modelVersion' | 'useCount'>): () => number {
    let stream: Pcg64 | undefined
    return () => {
      stream ??= new Pcg64(deriveSeed(this.#seed, eid.batch, eid.task, eid.run, eid.step, modelVersion, useCount))
      // Box–Muller; 1 − u keeps the logarithm finite.
      return Math.sqrt(-2 * Math.log(1 - stream.random())) * Math.cos(2 * Math.PI * stream.random())
    }
  }
}
