import { describe, expect, it } from 'vitest'
import { checkSender, hostInUrl, isLoopback } from './guard.js'

const check = (headers: Record<string, string>, bound = '127.0.0.1') => {
  try {
    checkSender(headers, bound)
    return 'ok'
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('who may send', () => {
  it('knows the names of this machine, and the address it listens at', () => {
    for (const host of ['localhost', '127.0.0.1:80', '[::1]', '[::1]:80', 'LocalHost:1'])
      expect(check({ host })).toBe('ok')
    for (const host of ['', 'example.com', 'localhost.example.com', '127.0.0.2'])
      expect(check({ host })).toBe('gateway/host')
    expect(check({ host: '10.0.0.5:80' }, '10.0.0.5')).toBe('ok')
    expect(check({ host: 'anything.example' }, '0.0.0.0')).toBe('ok')
  })

  it('refuses pages from elsewhere', () => {
    const host = 'localhost:80'
    expect(check({ host, origin: 'http://localhost:80' })).toBe('ok')
    expect(check({ host, 'sec-fetch-site': 'same-origin' })).toBe('ok')
    expect(check({ host, 'sec-fetch-mode': 'cors' })).toBe('ok')
    for (const origin of ['null', 'http://localhost:81', 'https://example.com']) {
      expect(check({ host, origin })).toBe('gateway/origin')
    }
    for (const site of ['cross-site', 'same-site'])
      expect(check({ host, 'sec-fetch-site': site })).toBe('gateway/origin')
  })

  it('tells addresses apart', () => {
    expect(['127.0.0.1', 'localhost', '::1', '0.0.0.0', '10.1.2.3'].map(isLoopback)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
    expect(hostInUrl('::1')).toBe('[::1]')
  })
})
