import { expect, it } from 'vitest'
import { isMean } from './score-names.js'

it('knows the mean of a score from its other statistics', () => {
  const means = ['eval/set/accuracy', 'eval/set/accuracy/mean', 'eval/set/accuracy/mean@4']
  expect(means.filter((key) => isMean(key, 'accuracy'))).toEqual(means)
  const others = [
    'eval/set/accuracy/std',
    'eval/set/accuracy/mean@',
    'eval/set/accuracy/mean/x',
    'eval/set/my_accuracy',
  ]
  expect(others.filter((key) => isMean(key, 'accuracy'))).toEqual([])
})
