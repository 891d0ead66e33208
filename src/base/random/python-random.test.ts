import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PythonRandom } from './python-random.js'

interface Golden {
  seed: number
  random: number[]
  below: number[]
  shuffle: number[]
  samples: number[][]
  choice: string
  uniform: number[]
}
// Written by CPython 3.11.
const golden: Golden[] = JSON.parse(readFileSync(new URL('./golden-python.json', import.meta.url), 'utf8'))
const range = (size: number) => Array.from({ length: size }, (_, i) => i)

describe("PythonRandom gives the numbers of Python's random.Random", () => {
  it.each(golden)('seed $seed', (expected) => {
    const rng = () => new PythonRandom(expected.seed)
    const doubles = rng()
    const numbers = Array.from({ length: 700 }, () => doubles.random())
    expect([...numbers.slice(0, 3), numbers[699]]).toEqual(expected.random)
    const whole = rng()
    expect([7, 1, 2, 1000, 2 ** 31 + 1, 4].map((count) => whole.below(count))).toEqual(expected.below)
    const list = range(20)
    rng().shuffle(list)
    expect(list).toEqual(expected.shuffle)
    const samples = rng()
    const sizes = [4, 30, 1000, 10]
    expect([2, 3, 8, 10].map((count, i) => samples.sample(range(sizes[i]), count))).toEqual(expected.samples)
    const choices = rng()
    expect(Array.from({ length: 6 }, () => choices.choice('abcdefg')).join('')).toBe(expected.choice)
    const uniform = rng()
    expect(range(3).map(() => uniform.uniform(3.5, 19.99))).toEqual(expected.uniform)
  })
})
