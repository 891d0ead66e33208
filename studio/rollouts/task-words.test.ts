import { expect, it } from 'vitest'
import { sourceKey, taskWords, withoutFrames } from './task-words.js'

const row = { id: '1', task: '3', step: '7', run: 0, type: 'single_turn', version: 0 }

it('a task has the name of its row, or of its place in a step', () => {
  expect(taskWords(row)).toBe('3 of its step')
  expect(taskWords({ ...row, source: { taskset: 1, index: 42 } })).toBe('row 42 of task set 1')
  expect(sourceKey({ taskset: 1, index: 42 })).toBe('1:42')
})

it('a prompt in a line has no frames of a chat template', () => {
  expect(withoutFrames('<|user|>Make 3 | 4<|end|><|assistant|>')).toBe('Make 3 | 4')
})
