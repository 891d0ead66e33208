import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dashboardOf, parseRayAddress } from './address.js'

describe('parseRayAddress', () => {
  it.each([
    ['auto', { kind: 'anywhere' }],
    ['http://head:8265/', { kind: 'http', url: 'http://head:8265' }],
    ['https://ray.example.com', { kind: 'http', url: 'https://ray.example.com' }],
    ['ray://head:10001', { kind: 'tcp', host: 'head', port: 10001 }],
    ['10.0.0.7:6379', { kind: 'tcp', host: '10.0.0.7', port: 6379 }],
    ['[::1]:6379', { kind: 'tcp', host: '::1', port: 6379 }],
    ['head', undefined],
    ['head:99999', undefined],
    ['http://', undefined],
  ])('%s', (text, address) => expect(parseRayAddress(text)).toEqual(address))
  it('throws at nothing', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseRayAddress(text)))
    fc.assert(fc.property(fc.string(), (text) => void parseRayAddress(`http://${text}`)))
  })
})

describe('dashboardOf', () => {
  it('is what is given, then what the variables say, then that of this machine', () => {
    const env = { RAY_API_SERVER_ADDRESS: 'http://api:1', RAY_ADDRESS: 'http://ray:2' }
    expect(dashboardOf('http://head:8265/x', env)).toBe('http://head:8265')
    expect(dashboardOf('auto', env)).toBe('http://api:1')
    expect(dashboardOf('', { RAY_ADDRESS: 'ray:6379' })).toBe('http://ray:8265')
    expect(dashboardOf('auto', { RAY_ADDRESS: 'auto' })).toBe('http://127.0.0.1:8265')
  })
  it('takes the usual port of a head that is named by another', () => {
    expect(dashboardOf('ray://head:10001', {})).toBe('http://head:8265')
    expect(dashboardOf('[::1]:6379', {})).toBe('http://[::1]:8265')
  })
  it('names what is wrong', () => {
    expect(() => dashboardOf('head', {})).toThrow("cluster.ray_address is 'head', which is no address of Ray")
    expect(() => dashboardOf('', { RAY_ADDRESS: '??' })).toThrow('RAY_ADDRESS')
  })
})
