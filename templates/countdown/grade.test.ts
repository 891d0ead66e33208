import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grade } from './grade.js'

const truth = { target: 22, numbers: [5, 20, 3] }

test('a sum that gives the target', () => {
  assert.equal(grade('<answer>5+20-3</answer>', truth), 1)
})

test('another sum, a number left out, no sum at all', () => {
  assert.equal(grade('<answer>5+20+3</answer>', truth), 0)
  assert.equal(grade('<answer>20+2</answer>', truth), 0)
  assert.equal(grade('twenty-two', truth), 0)
})
