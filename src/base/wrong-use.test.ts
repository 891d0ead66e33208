import { expect, it } from 'vitest'
import { TrinityError } from './error.js'
import { isWrongUse, noteBeforeFirstStep } from './wrong-use.js'

it.each([
  ['config/invalid', true],
  ['args/invalid', true],
  ['model/not-found', true],
  ['tokenizer/missing', true],
  ['data/not-found', true],
  ['data/malformed', false],
  ['hub/not-found', true],
  ['hub/offline', true],
  ['hub/failed', false],
  ['task/column', true],
  ['checkpoint/other-job', true],
  ['checkpoint/damaged', false],
  ['dataset/foreign', true],
  ['workflow/args', true],
  ['workflow/run', false],
  ['engine/deadline', false],
])('%s: %s', (code, expected) => {
  expect(isWrongUse(new TrinityError(code, 'x'))).toBe(expected)
})

it('an error of somebody else is a failure', () => {
  expect(isWrongUse(new Error('x'))).toBe(false)
})

it('data that cannot be read are wrong use before the first step', () => {
  const told = (code: string) => {
    const error = new TrinityError(code, 'x')
    noteBeforeFirstStep(error)
    return isWrongUse(error)
  }
  expect(['data/malformed', 'data/encoding', 'task/row'].map(told)).toEqual([true, true, true])
  expect(['engine/deadline', 'data/changed'].map(told)).toEqual([false, false])
})
