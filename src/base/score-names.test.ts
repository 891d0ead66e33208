import { expect, it } from 'vitest'
import { isMean, plainMeanName } from './score-names.js'

it('knows the mean of a score from its other statistics', () => {
  const means = [
    'eval/set/accuracy',
    'eval/set/accuracy/mean',
    'eval/set/accuracy/mean@4',
    'eval/set/accuracy/mean@4/mean',
  ]
  expect(means.filter((key) => isMean(key, 'accuracy'))).toEqual(means)
  const others = [
    'eval/set/accuracy/std',
    'eval/set/accuracy/mean@',
    'eval/set/accuracy/mean/x',
    'eval/set/accuracy/mean@4/max',
    'eval/set/accuracy/std@4/mean',
    'eval/set/accuracy/finished_mean',
    'eval/set/my_accuracy',
  ]
  expect(others.filter((key) => isMean(key, 'accuracy'))).toEqual([])
})

it('gives a mean the same name with and without detailed statistics', () => {
  expect(plainMeanName('eval/set/accuracy/mean@4/mean')).toBe('eval/set/accuracy/mean@4')
  expect(plainMeanName('mean of eval/a/score/mean@1/mean, eval/b/score/mean@1/mean')).toBe(
    'mean of eval/a/score/mean@1, eval/b/score/mean@1',
  )
  expect(plainMeanName('rollout/reward/mean')).toBe('rollout/reward/mean')
})
