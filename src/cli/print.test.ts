import { describe, expect, it } from 'vitest'
import { TrinityError } from '../base/error.js'
import { exitCodeOf, formatError } from './print.js'

describe('formatError', () => {
  const error = new TrinityError('config/unknown-key', "unknown key 'lrr'", {
    path: 'a.yaml:3:5',
    hint: "did you mean 'lr'?",
    cause: new Error('root'),
  })

  it('says what, where, how to fix and why', () => {
    const text = formatError(error, false)
    expect(text).toContain("unknown key 'lrr'")
    expect(text).toContain('a.yaml:3:5')
    expect(text).toContain("did you mean 'lr'?")
    expect(text).toContain('root')
    expect(text).not.toContain('print.test.ts')
  })

  it('shows the stack and the code only with --debug', () => {
    const text = formatError(error, true)
    expect(text).toContain('config/unknown-key')
    expect(text.match(/^Error: root\n +at .*print\.test\.ts/m), text).not.toBeNull()
  })

  it('takes anything that was thrown', () => {
    expect(formatError('plain text', false)).toContain('plain text')
    expect(formatError(undefined, true)).toContain('undefined')
  })
})

describe('exitCodeOf', () => {
  it('tells wrong use from a failed run', () => {
    expect(exitCodeOf(new TrinityError('config/invalid', 'x'))).toBe(2)
    expect(exitCodeOf(new TrinityError('engine/deadline', 'x'))).toBe(1)
    expect(exitCodeOf(new Error('x'))).toBe(1)
  })

  it('knows what was ended by a person, which is no error', () => {
    const error = new TrinityError('cli/interrupted', 'nothing was written')
    expect(exitCodeOf(error)).toBe(130)
    expect(formatError(error, false)).toBe('nothing was written')
    expect(exitCodeOf(new TrinityError('cli/terminated', 'terminated'))).toBe(143)
  })
})
