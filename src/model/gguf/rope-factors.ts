import { inverseFrequencies, type Rope, type RopeScaling } from '../rope.js'

/** What files of llama.cpp hold instead of the parameters of a `llama3` scaling: by how much each pair turns slower. */
export function ropeFactors(rope: Rope, headDim: number): Float32Array {
  const plain = inverseFrequencies({ ...rope, scaling: { type: 'default' } }, headDim)
  return inverseFrequencies(rope, headDim).map((scaled, i) => plain[i] / scaled)
}

/** The scaling behind such factors, where they are those that every published model of this kind has. */
export function scalingOf(factors: Float32Array, theta: number, headDim: number): RopeScaling | undefined {
  const scaling: RopeScaling = {
    type: 'llama3',
    factor: Math.max(...factors),
    lowFreqFactor: 1,
    highFreqFactor: 4,
    originalMaxPositions: 8192,
  }
  const expected = ropeFactors({ theta, scaling }, headDim)
  const same =
    factors.length === expected.length && factors.every((x, i) => Math.abs(x - expected[i]) < 1e-3 * expected[i])
  return same ? scaling : undefined
}
