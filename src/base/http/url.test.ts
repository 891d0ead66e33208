import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinUrl, parseBaseUrl, shownUrl } from './url.js'

const base = (text: string) => parseBaseUrl(text, 'test')

describe('parseBaseUrl', () => {
  it('takes http addresses only, and says what was meant', () => {
    expect(base(' http://h:1/v1/ ').href).toBe('http://h:1/v1/')
    expect(() => base('localhost:8000')).toThrow(expect.objectContaining({ hint: 'write http://localhost:8000' }))
    for (const wrong of ['', 'file:///etc/passwd', 'http://', 'not an address']) {
      expect(() => base(wrong)).toThrow(expect.objectContaining({ code: 'test/address' }))
    }
  })
})

describe('joinUrl', () => {
  it('joins with and without slashes, and keeps a query of the base', () => {
    for (const root of ['http://h/v1', 'http://h/v1/', 'http://h/v1//']) {
      expect(joinUrl(base(root), '/chat').href).toBe('http://h/v1/chat')
    }
    expect(joinUrl(base('http://h'), 'chat?a=1').href).toBe('http://h/chat?a=1')
    expect(joinUrl(base('http://h/x?api-version=2'), '/chat?a=b%26c').search).toBe('?api-version=2&a=b%26c')
  })

  it('never leaves what is below the base', () => {
    for (const route of ['/../admin', '/a/../../admin', '/%2e%2e/admin']) {
      expect(() => joinUrl(base('http://h/v1'), route)).toThrow(expect.objectContaining({ code: 'http/route' }))
    }
    expect(joinUrl(base('http://h/v1'), '//evil.example/x').href).toBe('http://h/v1/evil.example/x')
  })

  it('goes to the same server whatever the route', () => {
    fc.assert(
      fc.property(fc.string(), (route) => {
        try {
          const url = joinUrl(base('http://user:pass@h:9/v1'), route)
          expect(url.origin).toBe('http://h:9')
          expect(`${url.pathname}/`).toMatch(/^\/v1\//)
          expect(shownUrl(url)).not.toContain('pass@')
        } catch (error) {
          expect(error).toMatchObject({ code: 'http/route' })
        }
      }),
    )
  })
})
