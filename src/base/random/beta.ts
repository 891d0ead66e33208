import { TrinityError } from '../error.js'
import type { Pcg64 } from './pcg64.js'

/** Standard normal (Box–Muller, one of the pair). */
function normal(rng: Pcg64): number {
  return Math.sqrt(-2 * Math.log(1 - rng.random())) * Math.cos(2 * Math.PI * rng.random())
}

/** Gamma(shape, 1) by Marsaglia and Tsang's squeeze; shapes below 1 through Gamma(shape + 1) · u^(1/shape). */
function gamma(rng: Pcg64, shape: number): number {
  if (shape < 1) return gamma(rng, shape + 1) * (1 - rng.random()) ** (1 / shape)
  const d = shape - 1 / 3
  const c = 1 / Math.sqrt(9 * d)
  for (;;) {
    const x = normal(rng)
    const v = (1 + c * x) ** 3
    if (v > 0 && Math.log(1 - rng.random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v
  }
}

/** One draw from Beta(a, b). */
export function beta(rng: Pcg64, a: number, b: number): number {
  for (const shape of [a, b]) {
    if (shape > 0 && Number.isFinite(shape)) continue
    throw new TrinityError('random/range', `cannot draw from Beta(${a}, ${b}): both must be positive numbers`, {
      hint: 'where they come from pass rates, these must lie between 0 and 1',
    })
  }
  const x = gamma(rng, a)
  const y = gamma(rng, b)
  return x / (x + y)
}
