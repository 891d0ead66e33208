import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grade } from './grade.js'

test('the right answer', () => {
  assert.equal(grade(' Paris\n', 'Paris'), 1)
  assert.equal(grade('7', 7), 1)
})

test('another one', () => {
  assert.equal(grade('Rome', 'Paris'), 0)
})
