import { expect, it } from 'vitest'
import { messageOf, TrinityError } from '../error.js'
import { redact, redactAll, redactValue, rememberAssignment, rememberEnvironment, rememberSecret } from './known.js'

it('hides a known secret in any text, in every spelling', () => {
  rememberSecret('s3cr/t "v@lue')
  const spelled = ['s3cr/t "v@lue', encodeURIComponent('s3cr/t "v@lue'), JSON.stringify('s3cr/t "v@lue').slice(1, -1)]
  for (const one of spelled) expect(redact(`before${one}after`)).toBe('before***after')
})

it('hides the longer of two secrets as a whole', () => {
  rememberSecret('longer-1')
  rememberSecret('longer-1-still')
  expect(redact('x longer-1-still y')).toBe('x *** y')
})

it('hides a word only where it stands alone, and a short value only as a whole', () => {
  rememberSecret('trinity')
  rememberSecret('ab1')
  expect(redact('trinityrun, trinity: ab1')).toBe('trinityrun, ***: ab1')
  expect(redactValue('ab1')).toBe('***')
})

it('lets harmless values through', () => {
  for (const value of ['EMPTY', 'none', '', 'null']) rememberSecret(value)
  expect(redact('EMPTY none null')).toBe('EMPTY none null')
})

it('keeps every error clean, also one that others have thrown', () => {
  rememberSecret('sk-live-12345')
  const error = new TrinityError('a/b', 'bad sk-live-12345', { path: 'at sk-live-12345', hint: 'set x=sk-live-12345' })
  expect(JSON.stringify(error) + error.stack).not.toContain('sk-live')
  expect(messageOf(new Error('401: sk-live-12345 is wrong'))).toBe('401: *** is wrong')
  expect(messageOf('postgres://u:p@ss@h')).toBe('postgres://u:***@h')
})

it('learns from the environment and from overrides', () => {
  rememberEnvironment({
    SOME_API_KEY: 'env-value-1',
    PLAIN: 'plain-value-1',
    AUTH_MODE: 'disabled',
    DB: 'pg://u:dbpass1@h',
  })
  rememberAssignment('explorer.rollout_model.api_key=set-value-1')
  rememberAssignment('explorer.env_vars.X=set-value-2')
  const text = 'env-value-1 plain-value-1 disabled dbpass1 set-value-1 set-value-2'
  expect(redact(text)).toBe('*** plain-value-1 disabled *** *** ***')
  expect(redactAll([{ a: 'env-value-1', n: 1, at: new Date(0) }])).toEqual([{ a: '***', n: 1, at: new Date(0) }])
})
