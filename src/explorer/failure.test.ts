import { expect, it } from 'vitest'
import { rememberPlugin } from '../plugin/place.js'
import { failureOf } from './failure.js'

const { signal } = new AbortController()

it('what a plugin throws is told with its line', () => {
  const thrown = () => new Error('no luck')
  expect(failureOf(thrown(), signal)).toEqual({ reason: 'workflow_error', message: 'no luck' })
  // as if this file were one
  rememberPlugin(import.meta.filename)
  const { message } = failureOf(thrown(), signal)
  expect(message).toMatch(/^no luck \(.*failure\.test\.ts:8:\d+\)$/)
})
