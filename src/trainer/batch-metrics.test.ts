import { expect, it } from 'vitest'
import { createExperience } from '../experience/index.js'
import { batchMetrics } from './batch-metrics.js'

it('counts an answer as cut that is as long as the limit, and none of a long conversation of short ones', () => {
  const tokens = Array.from({ length: 11 }, (_, i) => i)
  const one = createExperience({ tokens, promptLength: 1 })
  const several = createExperience({ tokens, promptLength: 1, actionMask: [1, 1, 1, 0, 0, 1, 1, 1, 0, 1] })
  expect(batchMetrics([one, several], 4)['response_length/clip_ratio']).toBe(0.5)
  expect(batchMetrics([several], 3)['response_length/clip_ratio']).toBe(1)
  // tokens that are not learned count: a format forced them
  const held = createExperience({
    type: 'single_turn',
    tokens,
    promptLength: 1,
    actionMask: [0, 1, 0, 0, 0, 0, 0, 1, 0, 0],
  })
  expect(batchMetrics([held], 10)['response_length/clip_ratio']).toBe(1)
  // A truncated answer that is masked as a whole was cut, too; an expert's answer was not sampled.
  const masked = { ...several, actionMask: new Uint8Array(10), truncateStatus: 'response_truncated' as const }
  const metrics = batchMetrics([masked, several, { ...one, info: { is_expert: true } }], 4)
  expect([metrics['response_length/clip_ratio'], metrics['sample/truncated_count']]).toEqual([0.5, 1])
  expect(batchMetrics([one], null)).not.toHaveProperty('response_length/clip_ratio')
})
