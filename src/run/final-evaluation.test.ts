import { describe, expect, it } from 'vitest'
import { resolve } from '../../test/config-kit.js'
import type { ExplorerMark } from '../explorer/index.js'
import { evaluateFinal, type FinalEvaluation, leftToFinal } from './final-evaluation.js'

const config = (keys: Record<string, unknown> = {}) =>
  resolve(
    `
model: {model_path: m, max_model_len: 64}
algorithm: {algorithm_type: grpo, repeat_times: 2}
buffer:
  batch_size: 2
  explorer_input:
    taskset: {path: tasks.jsonl, default_workflow_type: simple_workflow}
    eval_tasksets: [{name: held, path: eval.jsonl, default_workflow_type: simple_workflow}]
`,
    { set: Object.entries(keys).map(([key, value]) => `${key}=${JSON.stringify(value)}`) },
  )

describe('leftToFinal', () => {
  it('leaves out the number of the last step, the final weights, and explorers that only wait for the end', () => {
    const isLeft = leftToFinal(config({ 'synchronizer.sync_offset': 1 }), 40)
    expect(isLeft(39, 38)).toBe(false)
    expect(isLeft(40, 39)).toBe(true)
    expect(isLeft(41, 39)).toBe(true)
    expect(isLeft(20, 40)).toBe(true)
    // Experiences were dropped: the explorer needs many more steps.
    expect(isLeft(50, 31)).toBe(false)
  })

  it('leaves nothing out when the number of training steps is not known', () => {
    expect(leftToFinal(config(), undefined)(40, 40)).toBe(false)
  })
})

describe('evaluateFinal', () => {
  async function stepsOf(given: Partial<FinalEvaluation['explorer']>, trained: number, more: Partial<FinalEvaluation>) {
    const steps: number[] = []
    const explorer = {
      step: trained,
      mark: undefined,
      evaluated: { step: -1, version: -1 },
      evaluate: async (step: number) => {
        steps.push(step)
        return {}
      },
      ...given,
    }
    const { signal } = new AbortController()
    const begin = () => {}
    await evaluateFinal({ config: config(), explorer, trained, end: 'total_steps', signal, begin, ...more })
    return steps
  }

  it('has the number of the last step', async () => {
    expect(await stepsOf({ step: 40, evaluated: { step: 30, version: 29 } }, 40, { end: 'end_of_data' })).toEqual([40])
    expect(await stepsOf({ step: 41, evaluated: { step: 30, version: 30 } }, 40, {})).toEqual([40])
  })

  it('counts explorer steps when the trainer makes several for one of them', async () => {
    const twice = config({ 'synchronizer.explorer_sync_interval': 1, 'synchronizer.trainer_sync_interval': 2 })
    expect(await stepsOf({ step: 20 }, 40, { config: twice })).toEqual([20])
  })

  it('does not go back behind evaluations of an explorer that needed more steps', async () => {
    const mark = { step: 66 } as ExplorerMark
    expect(await stepsOf({ step: 67, mark, evaluated: { step: 60, version: 38 } }, 40, {})).toEqual([66])
    expect(await stepsOf({ step: 40, evaluated: { step: 30, version: 20 } }, 25, { end: 'end_of_data' })).toEqual([40])
  })

  it('evaluates weights that were never trained only where it is due', async () => {
    const every = config({ 'explorer.eval_interval': 5 })
    expect(await stepsOf({ step: 10 }, 0, { config: every, end: 'end_of_data' })).toEqual([10])
    expect(await stepsOf({ step: 11 }, 0, { config: every, end: 'end_of_data' })).toEqual([])
  })

  it('evaluates the same weights once, and nothing without evaluation sets or an interval', async () => {
    expect(await stepsOf({ evaluated: { step: 30, version: 40 } }, 40, {})).toEqual([])
    expect(await stepsOf({}, 40, { config: config({ 'explorer.eval_interval': 0 }) })).toEqual([])
    expect(await stepsOf({}, 40, { config: config({ 'buffer.explorer_input.eval_tasksets': [] }) })).toEqual([])
  })
})
