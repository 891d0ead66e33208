import { expect, it } from 'vitest'
import { meaningOf } from './meaning.js'

it('tells log-probs of the model from those before the temperature and after truncation', () => {
  // as vLLM 0.32 answered: a gap of 0.36 between the likeliest five
  expect(meaningOf(0.36, 0.72)).toBe('model')
  expect(meaningOf(0.36, 0.36)).toBe('raw')
  // what is cut off is told as -9999
  expect(meaningOf(0.36, 9999)).toBe('processed')
  expect(meaningOf(0, 0)).toBe('processed')
})
