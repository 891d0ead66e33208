import { describe, expect, it } from 'vitest'
import { ago, bytes, count, duration, lastName, modelName, number, percent } from './format.js'

describe('numbers', () => {
  it.each([
    [0, '0'],
    [12, '12'],
    [0.5, '0.5'],
    [0.6427951388, '0.6428'],
    [-0.00638295, '-0.006383'],
    [0.00001234, '1.23e-5'],
    [12_045.7, '12k'],
    [12_345.6, '12.3k'],
    [1_234_567, '1.23M'],
    [100, '100'],
    [1e12, '1.00e12'],
    [9999.96, '10000'],
    [Number.NaN, 'NaN'],
    [undefined, '–'],
    ['Infinity', 'Infinity'],
  ])('%s is %s', (value, text) => expect(number(value)).toBe(text))

  it('counts have separators', () => expect(count(1_234_567)).toBe('1,234,567'))
  it('a share that is not 0 does not look like it', () =>
    expect([0, 0.001, 0.5].map(percent)).toEqual(['0 %', '<1 %', '50 %']))
})

describe('times and sizes', () => {
  it.each([
    [0.0123, '12 ms'],
    [1.25, '1.3 s'],
    [59.7, '1 min'],
    [125, '2 min 5 s'],
    [7500, '2 h 5 min'],
    [90_000, '1 d 1 h'],
    [undefined, '–'],
  ])('%s seconds are %s', (seconds, text) => expect(duration(seconds)).toBe(text))

  it.each([
    [0, 'now'],
    [42, '42 s ago'],
    [3600 * 25, '1 d ago'],
  ])('%s seconds later: %s', (seconds, text) => expect(ago(1000, 1000 + seconds)).toBe(text))

  it('a clock that is behind shows no negative time', () => expect(ago(1000, 990)).toBe('now'))
  it('sizes', () => expect([999, 1000, 48_123_456].map(bytes)).toEqual(['999 B', '1 kB', '48.1 MB']))
  it('models by their last name', () => expect(lastName('Qwen/Qwen2.5-0.5B/')).toBe('Qwen2.5-0.5B'))
})

it.each([
  ['Qwen/Qwen2.5-1.5B-Instruct', 'Qwen2.5-1.5B-Instruct'],
  ['/home/me/quickstart/model/', 'quickstart/model'],
  ['/runs/shop/global_step_40/actor/huggingface', 'shop/global_step_40'],
  ['model', 'model'],
  [undefined, '–'],
])('the model %s is called %s', (path, name) => expect(modelName(path)).toBe(name))
