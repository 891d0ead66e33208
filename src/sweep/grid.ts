import { basename } from 'node:path'
import { TrinityError } from '../base/error.js'
import { plainScalar } from '../config/scalar.js'
import type { SweepSpec } from './spec.js'

/** One run that a sweep asks for. */
export interface AskedRun {
  /** Its name, and that of its folder. */
  readonly id: string
  /** What it is compared as: all that makes it, less the seed. */
  readonly arm: string
  readonly seed?: number
  /** Its configuration. */
  readonly file: string
  /** `key=value`, in order; a later one wins. */
  readonly set: readonly string[]
}

/** More than anybody waits for: a grid that multiplied itself. */
const MOST = 1000

/** Every run of a sweep: each arm with each cell of the grid and each seed. */
export function runsOf(spec: SweepSpec): AskedRun[] {
  const cells = cellsOf(spec.grid)
  const seeds = spec.seeds.length > 0 ? spec.seeds : [undefined]
  const arms = armsOf(spec)
  const count = arms.length * cells.length * seeds.length
  if (count > MOST) {
    throw new TrinityError('config/sweep', `the grid has ${count} runs; the limit is ${MOST}`, {
      path: 'grid',
      hint: 'leave out values, or make several sweeps of it',
    })
  }
  const runs = arms.flatMap((arm) =>
    cells.flatMap((cell) => {
      const label = [arm.name, ...cell.map(({ short, text }) => `${short}=${text}`)].join(' ')
      const set = [
        ...assignments(spec.set),
        ...assignments(arm.set),
        ...cell.map(({ key, value }) => assign(key, value)),
      ]
      return seeds.map((seed): AskedRun => {
        const id = folderName(seed === undefined ? label : `${label} seed=${seed}`)
        return { id, arm: label, seed, file: arm.file, set }
      })
    }),
  )
  const twice = runs.find(({ id }, i) => runs.findIndex((other) => other.id === id) !== i)
  if (!twice) return runs
  throw new TrinityError('config/sweep', `two runs would be called '${twice.id}'`, {
    path: 'arms',
    hint: 'give the arms names that differ, and values of the grid that differ in their text',
  })
}

interface Arm {
  readonly name: string
  readonly file: string
  readonly set: Readonly<Record<string, unknown>>
}

/** Without arms the configuration is the only one. */
function armsOf({ arms, config }: SweepSpec): Arm[] {
  const named = Object.entries(arms).map(([name, arm]) => {
    return { name, file: (arm?.config ?? config) as string, set: arm?.set ?? {} }
  })
  if (named.length > 0) return named
  return [{ name: nameOf(config as string), file: config as string, set: {} }]
}

/** The name of an arm that is a file. */
export function nameOf(config: string): string {
  return basename(config).replace(/\.ya?ml$/, '')
}

interface Choice {
  readonly key: string
  readonly short: string
  readonly value: unknown
  readonly text: string
}

/** Every combination; of no keys there is one. */
function cellsOf(grid: SweepSpec['grid']): Choice[][] {
  const shorts = shortKeys(Object.keys(grid))
  return Object.entries(grid).reduce<Choice[][]>(
    (cells, [key, values], at) =>
      cells.flatMap((cell) =>
        values.map((value, i) => [...cell, { key, short: shorts[at], value, text: textOf(value, i) }]),
      ),
    [[]],
  )
}

/** The last words of the keys, as few as tell them apart. */
function shortKeys(keys: readonly string[]): string[] {
  const ending = (key: string, words: number) => key.split('.').slice(-words).join('.')
  return keys.map((key) => {
    let words = 1
    while (keys.some((other) => other !== key && ending(other, words) === ending(key, words))) words++
    return ending(key, words)
  })
}

/** A value as a part of a name; one that is no single value is called by its place. */
function textOf(value: unknown, at: number): string {
  if (typeof value === 'number') return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential() : String(value)
  return value === null || typeof value === 'object' ? (value === null ? 'null' : `#${at + 1}`) : String(value)
}

function folderName(label: string): string {
  return label
    .replaceAll(' ', '-')
    .replaceAll('=', '_')
    .replace(/[^\w.+-]/g, '_')
}

function assignments(set: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(set).map(([key, value]) => assign(key, value))
}

/** As `--set` reads it. JSON is YAML in flow notation; a word that reads as itself needs no quotes. */
export function assign(key: string, value: unknown): string {
  const isWord = typeof value === 'string' && /^[\w./-]+$/.test(value) && plainScalar(value).type === 'str'
  return `${key}=${isWord ? value : JSON.stringify(value)}`
}
