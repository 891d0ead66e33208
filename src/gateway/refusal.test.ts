import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TrinityError } from '../base/error.js'
import { refusalOf } from './refusal.js'

describe('refusals', () => {
  it.each([
    ['dialect/unsupported', 400],
    ['chat/tool-choice', 400],
    ['grammar/schema', 400],
    ['engine/bad-request', 400],
    ['gateway/json', 400],
    ['chat/template', 500],
    ['template/limit', 500],
    ['grammar/strayed', 500],
    ['engine/not-finite', 500],
    ['workflow/history', 500],
    ['engine/closed', 503],
    ['engine/worker-hung', 504],
  ])('%s is %i', (code, status) => {
    expect(refusalOf(new TrinityError(code, 'what')).status).toBe(status)
  })

  it('say what, where and how to fix it', () => {
    const error = new TrinityError('dialect/invalid', 'n must be a number', { path: 'n', hint: 'leave it out' })
    expect(refusalOf(error)).toEqual({
      ...{ status: 400, code: 'dialect/invalid', message: 'n must be a number (leave it out)', param: 'n' },
      retryAfter: undefined,
    })
  })

  it('keep the place of files to themselves', () => {
    const error = new TrinityError('chat/continue', 'what', { path: resolve('tokenizer.json') })
    expect(refusalOf(error)).toMatchObject({ status: 400, param: undefined })
  })

  it('keep errors of others inside', () => {
    expect(JSON.stringify(refusalOf(new TypeError('at /somewhere')))).not.toContain('somewhere')
    expect(refusalOf('text').status).toBe(500)
  })
})
