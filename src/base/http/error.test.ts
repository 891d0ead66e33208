import { expect, it } from 'vitest'
import { rememberSecret } from '../secret/index.js'
import { codeOf, HttpError, wordsOf } from './error.js'

it('finds the words of a server in the forms that servers use', () => {
  expect(wordsOf('{"error":{"message":"no such model","type":"x"}}')).toBe('no such model')
  expect(wordsOf('{"error":"bad"}')).toBe('bad')
  expect(wordsOf('{"object":"error","message":"too long","code":400}')).toBe('too long')
  expect(wordsOf('{"detail":[{"loc":["body","n"],"msg":"must be > 0"}]}')).toBe('body.n: must be > 0')
  expect(wordsOf('{"detail":"Not Found"}')).toBe('Not Found')
  expect(wordsOf('<html><head><title>502 Bad Gateway</title></head><body>…</body>')).toBe('502 Bad Gateway')
  expect(wordsOf('plain\n  words')).toBe('plain words')
  expect(wordsOf('{"ok":false}')).toBe('{"ok":false}')
  expect(wordsOf('')).toBe('')
})

it('cuts long words, after it has hidden what is secret in them', () => {
  rememberSecret('sk-cut-me-12345')
  const said = wordsOf(`${'x'.repeat(290)} sk-cut-me-12345 and more than there is room for`)
  expect(said).toHaveLength(301)
  expect(said).not.toContain('sk-')
})

it('knows what may pass, and what was certainly not done', () => {
  const of = (status: number) => new HttpError(`x/${codeOf(status)}`, 'm', { status })
  const all = [302, 400, 401, 404, 408, 425, 429, 500, 501, 502, 503, 504]
  expect(all.filter((status) => of(status).isPassing)).toEqual([408, 425, 429, 500, 502, 503, 504])
  expect(all.filter((status) => of(status).isUndone)).toEqual([408, 425, 429])
  expect(all.map(codeOf)).toEqual([
    ...['redirect', 'refused', 'unauthorized', 'not-found', 'refused', 'refused', 'busy'],
    ...['failed', 'failed', 'failed', 'failed', 'failed'],
  ])
  expect(new HttpError('x/unreachable', 'm').isPassing).toBe(true)
  expect(new HttpError('x/deadline', 'm').isPassing).toBe(false)
})
