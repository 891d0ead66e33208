import { describe, expect, it } from 'vitest'
import { fakeHost } from '../../../test/fake-host.js'
import { checkRay, parseRayVersion } from './ray.js'

it('reads the version of a dashboard and of nothing else', () => {
  expect(parseRayVersion('{"version": "4", "ray_version": "2.49.0", "session_name": "s"}')).toBe('2.49.0')
  for (const body of ['', '<html>', 'null', '3', '{"ray_version": 3}']) expect(parseRayVersion(body)).toBeUndefined()
})

describe('checkRay', () => {
  const pages = { 'http://127.0.0.1:8265/api/version': '{"ray_version": "2.49.0"}' }
  it('finds a local dashboard', async () => {
    expect(await checkRay(fakeHost({ pages }))).toMatchObject({ status: 'ok', data: { version: '2.49.0' } })
    expect(await checkRay(fakeHost({ pages, env: { RAY_ADDRESS: 'auto' } }))).toMatchObject({ status: 'ok' })
  })
  it('is missing when nobody asked for it, wrong when somebody did', async () => {
    expect((await checkRay(fakeHost())).status).toBe('missing')
    expect((await checkRay(fakeHost({ env: { RAY_ADDRESS: 'head:6379' } }))).status).toBe('wrong')
    expect((await checkRay(fakeHost({ env: { RAY_ADDRESS: '???' } }))).status).toBe('wrong')
  })
  it('connects where RAY_ADDRESS says', async () => {
    const host = fakeHost({ env: { RAY_ADDRESS: 'ray://head:10001' }, ports: ['head:10001'] })
    expect((await checkRay(host)).status).toBe('ok')
  })
  it('is not taken in by another server', async () => {
    const other = { 'http://127.0.0.1:8265/api/version': '<html>hello</html>' }
    expect((await checkRay(fakeHost({ pages: other }))).status).toBe('wrong')
  })
})
