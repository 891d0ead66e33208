/** Seeded random draws for generators that run outside fast-check. Equal seeds give equal draws on every machine. */
export class Draw {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
    // Neighboring seeds start alike without a few rounds.
    for (let i = 0; i < 4; i++) this.#next()
  }

  /** A whole number from 0 to `below` - 1. */
  nat(below: number): number {
    return Math.floor((this.#next() / 2 ** 32) * below)
  }

  chance(probability: number): boolean {
    return this.#next() / 2 ** 32 < probability
  }

  pick<T>(list: readonly T[]): T {
    return list[this.nat(list.length)]
  }

  #next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
}

/** Seed of case `index` of a run, stable per name, so that one case can be repeated alone. */
export function caseSeed(name: string, seed: number, index: number): number {
  let hash = Math.imul(seed ^ 0x5bd1e995, 0x85ebca6b)
  for (const unit of `${name}:${index}`) hash = Math.imul(hash ^ unit.charCodeAt(0), 0x01000193)
  return hash >>> 0
}

/**
 * Seed of generated cases: `PROPERTY_SEED` if it is a number. Without it, or with `random`, nightly runs draw one and
 * print it; the sample in `npm test` uses 1.
 */
export function fuzzSeed(kind: 'sample' | 'nightly'): number {
  const given = process.env.PROPERTY_SEED
  const isRandom = given === 'random' || (given === undefined && kind === 'nightly')
  const seed = isRandom ? Date.now() % 1_000_000_007 : Number(given ?? 1)
  if (isRandom) console.log(`fuzz seed ${seed}: repeat with PROPERTY_SEED=${seed}`)
  return seed
}

/** Number of cases from an environment variable, for nightly runs. */
export function fuzzCount(variable: string, usual: number): number {
  return Number(process.env[variable] ?? usual)
}
