import { expect, it } from 'vitest'
import { TrinityError } from './error.js'
import { isWrongUse, noteDuringRun } from './wrong-use.js'

it.each([
  ['config/invalid', true],
  ['args/invalid', true],
  ['model/not-found', true],
  ['tokenizer/missing', true],
  ['data/not-found', true],
  ['data/malformed', true],
  ['file/unreadable', true],
  ['safetensors/unreadable', true],
  ['hub/not-found', true],
  ['hub/offline', true],
  ['hub/failed', false],
  ['task/column', true],
  ['checkpoint/other-job', true],
  ['task/state', true],
  ['plot/run', true],
  ['sweep/metric', true],
  ['studio/no-file', true],
  ['studio/no-table', true],
  ['studio/store', true],
  ['convert/missing', true],
  ['convert/none', true],
  ['convert/pieces', false],
  ['perf/report', true],
  ['perf/timeout', false],
  ['checkpoint/damaged', false],
  ['dataset/foreign', true],
  ['workflow/args', true],
  ['workflow/run', false],
  ['engine/lora', true],
  ['benchmark/name', true],
  ['engine/deadline', false],
])('%s: %s', (code, expected) => {
  expect(isWrongUse(new TrinityError(code, 'x'))).toBe(expected)
})

it('an error of somebody else is a failure', () => {
  expect(isWrongUse(new Error('x'))).toBe(false)
})

it('data that cannot be read are a failure of a run that has taken steps, a model that is not there never is', () => {
  const told = (code: string) => {
    const error = new TrinityError(code, 'x')
    noteDuringRun(error)
    return isWrongUse(error)
  }
  expect(['data/malformed', 'data/encoding', 'task/row', 'file/unreadable'].map(told)).toEqual(Array(4).fill(false))
  expect(['model/not-found', 'engine/deadline'].map(told)).toEqual([true, false])
})
