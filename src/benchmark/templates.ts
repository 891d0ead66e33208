import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { TrinityError } from '../base/error.js'
import { nearest } from '../base/nearest.js'

/** Data sets of the benchmark; each is a file in examples/benchmark. */
export const BENCHMARKS = ['gsm8k', 'countdown', 'guru_math', 'alfworld', 'frozenlake'] as const

/** The configuration of a data set, with what does not depend on the machine. */
export function templateOf(name: string): string {
  const wanted = name.toLowerCase().replaceAll('-', '_')
  const known = wanted === 'frozen_lake' ? 'frozenlake' : wanted
  if (!BENCHMARKS.some((one) => one === known)) {
    const near = nearest(known, [...BENCHMARKS])
    throw new TrinityError('benchmark/name', `there is no benchmark '${name}'`, {
      path: 'dataset',
      hint: near ? `did you mean ${near}?` : `one of ${BENCHMARKS.join(', ')}`,
    })
  }
  return readFileSync(fileURLToPath(new URL(`../../examples/benchmark/${known}.yaml`, import.meta.url)), 'utf8')
}
