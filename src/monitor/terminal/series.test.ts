import { expect, it } from 'vitest'
import { Series } from './series.js'

it('spreads what there is over the columns', () => {
  const series = new Series()
  series.add(1, 0)
  expect(series.sampled(5)).toEqual([])
  series.add(5, 1)
  expect(series.sampled(5)).toEqual([0, 0.25, 0.5, 0.75, 1])
  series.add(6, Number.NaN)
  expect(series.last).toBe(1)
})

it('takes the mean of what falls into one column', () => {
  const series = new Series()
  for (let step = 0; step <= 100; step++) series.add(step, step % 2)
  const middle = series.sampled(6).slice(1, -1)
  expect(middle.every((value) => Math.abs(value - 0.5) < 0.05)).toBe(true)
})

it('a long run keeps its shape in bounded memory', () => {
  const series = new Series()
  for (let step = 0; step < 100_000; step++) series.add(step, step)
  const values = series.sampled(10)
  expect(values).toHaveLength(10)
  values.forEach((value, i) => void expect(Math.abs(value - (i * 100_000) / 9)).toBeLessThan(6000))
})

it('begins anew with a stage that does', () => {
  const series = new Series()
  for (const step of [1, 2, 3, 1]) series.add(step, step)
  expect(series.sampled(3)).toEqual([])
  expect(series.last).toBe(1)
})
