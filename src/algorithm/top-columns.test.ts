import { describe, expect, it } from 'vitest'
import { experience } from '../../test/algorithm/experiences.js'
import type { Experience } from '../experience/index.js'
import { defineLoss, graphInputs } from '../graph/index.js'
import { toRows } from './rows.js'

describe('the likeliest tokens of a rollout', () => {
  const loss = defineLoss((g) => g.logprobAt('top_token_1').sub(g.column('top_logprob_1')).abs().total())
  const { columns } = graphInputs(loss.graph)
  const top = [
    { tokens: [7, 3], logprobs: [-0.5, -1.5] },
    { tokens: [4, 9], logprobs: [-0.25, -2.5] },
  ]
  const short = { tokens: [1, 2, 7, 4], actionMask: [1, 1], logprobs: [-0.5, -0.25] }
  const made = (info: Experience['info']) => experience(0, 0, 1, { ...short, info })

  it('are columns that a loss may take log-probs of', () => {
    expect(columns.map(({ name }) => name).sort()).toEqual(['top_logprob_1', 'top_token_1'])
    const [row] = toRows([made({ top_logprobs: top })], columns, { step: 1 })
    expect(row.columns).toEqual({ top_token_1: Float32Array.of(3, 9), top_logprob_1: Float32Array.of(-1.5, -2.5) })
  })
  it.each([
    ['none', {}],
    ['too few of a token', { top_logprobs: [top[0], { tokens: [4], logprobs: [-0.25] }] }],
    ['those of one turn of several', { top_logprobs: top.slice(1) }],
  ])('that are not there (%s) are an error that says how to record them', (_, info) => {
    expect(() => toRows([made(info)], columns, { step: 1 })).toThrowError(
      expect.objectContaining({ code: 'algorithm/missing-input', hint: expect.stringContaining('model.logprobs') }),
    )
  })
})
