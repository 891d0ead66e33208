import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createExperience } from '../../experience/index.js'
import { rolloutCorrectionArgs } from './args.js'
import { correctRollout } from './correct.js'

/** What `compute_rollout_correction_and_rejection_mask` of veRL 0.9.1 gives for the same random log-probs. */
const golden = JSON.parse(readFileSync(new URL('golden-verl.json', import.meta.url), 'utf8')) as {
  old: number[][]
  rollout: number[][]
  mask: number[][]
  cases: { args: object; weights: number[][] | null; mask: number[][]; metrics: Record<string, number> }[]
}

const experiences = golden.old.map((oldLogprobs, run) =>
  createExperience({
    eid: { batch: 0, task: 0, run, step: 0 },
    tokens: [1, ...oldLogprobs.map((_, i) => i)],
    promptLength: 1,
    actionMask: golden.mask[run],
    logprobs: golden.rollout[run],
    oldLogprobs,
    advantages: oldLogprobs.map(() => 1),
  }),
)

it.each(golden.cases.map((one) => [JSON.stringify(one.args), one] as const))(
  '%s',
  (_, { args, weights, ...expected }) => {
    const result = correctRollout(experiences, rolloutCorrectionArgs.parse(args))
    expect(result.experiences.map(({ actionMask }) => [...actionMask])).toEqual(expected.mask)
    for (const [r, row] of golden.mask.entries()) {
      for (const [i, active] of row.entries()) {
        if (active) expect(result.experiences[r].advantages![i]).toBeCloseTo(weights?.[r][i] ?? 1, 5)
      }
    }
    for (const [name, value] of Object.entries(expected.metrics))
      expect(result.metrics[name], name).toBeCloseTo(value, 6)
  },
)
