import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import type { ApiError } from './api.js'
import { Visitor } from './visitor.fixture.js'

let visitor: Visitor
beforeAll(async () => {
  const dir = await tempDir()
  const page = join(dir, 'page')
  await mkdir(join(page, 'assets'), { recursive: true })
  await writeFile(join(page, 'index.html'), '<!doctype html><title>Studio</title>')
  await writeFile(join(page, 'assets', 'app.js'), 'export {}')
  await writeFile(join(dir, 'outside.js'), 'no part of the page')
  await symlink(join(dir, 'outside.js'), join(page, 'link.js'))
  await mkdir(join(dir, 'runs'))
  visitor = await Visitor.open({ folders: [join(dir, 'runs')], page })
})
afterAll(() => visitor.close())

describe('who is let in', () => {
  it('the printed address works once, and gives a cookie that scripts and other sites do not get', async () => {
    const again = await fetch(visitor.studio.url, { redirect: 'manual' })
    expect(again.status).toBe(401)
    expect(((await again.json()) as ApiError).error.code).toBe('studio/key')
    const fresh = await Visitor.open({ folders: [] })
    const other = await Visitor.open({ folders: [] })
    expect(fresh.cookie).not.toBe(other.cookie)
    expect((await fetch(`${other.origin}/api/runs`, { headers: { cookie: fresh.cookie } })).status).toBe(401)
    await Promise.all([fresh.close(), other.close()])
  })

  it('whoever has the cookie may open the address again', async () => {
    const response = await fetch(visitor.studio.url, { redirect: 'manual', headers: { cookie: visitor.cookie } })
    expect([response.status, response.headers.get('location')]).toEqual([303, '/'])
    expect(response.headers.get('set-cookie')).toBe(null)
  })

  it('a wrong token does not use up the right one', async () => {
    const { Studio } = await import('./studio.js')
    const studio = await Studio.open({ folders: [], version: '0' })
    const wrong = studio.url.replace(/token=.*/, 'token=guess')
    expect((await fetch(wrong, { redirect: 'manual' })).status).toBe(401)
    const right = await fetch(studio.url, { redirect: 'manual' })
    expect(right.status).toBe(303)
    expect(right.headers.get('set-cookie')).toMatch(
      /^trinity_studio_\d+=[\w-]{32}; HttpOnly; SameSite=Strict; Path=\/$/,
    )
    await studio.close()
  })

  it('the API asks for the cookie, the page does not', async () => {
    expect((await fetch(`${visitor.origin}/api/runs`)).status).toBe(401)
    expect((await fetch(`${visitor.origin}/api/nothing`)).status).toBe(401)
    expect((await fetch(`${visitor.origin}/runs/abc`)).status).toBe(200)
  })

  it('names that were made to point here and pages from elsewhere are refused', async () => {
    const { cookie } = visitor
    const host = new URL(visitor.origin).host
    expect(await visitor.status('/api/runs', { cookie, host })).toBe(200)
    expect(await visitor.status('/api/runs', { cookie, host: 'evil.example' })).toBe(403)
    expect(await visitor.status('/', { host: 'evil.example' })).toBe(403)
    expect(await visitor.status('/api/runs', { cookie, host, origin: 'http://evil.example' })).toBe(403)
    expect(await visitor.status('/api/runs', { cookie, host, 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await visitor.status('/api/runs', { cookie, host, origin: `http://${host}` })).toBe(200)
  })
})

describe('the page', () => {
  it('has no inline scripts and is framed by nobody', async () => {
    const { headers } = await fetch(`${visitor.origin}/`)
    const csp = headers.get('content-security-policy') ?? ''
    expect(csp).toContain("script-src 'self';")
    expect(csp).toContain("default-src 'none'")
    expect(csp).toContain("frame-ancestors 'none'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const refused = await fetch(`${visitor.origin}/api/runs`)
    expect(refused.headers.get('content-security-policy')).toBe(csp)
  })

  it('gives its files and nothing beside them', async () => {
    const at = (path: string) => fetch(visitor.origin + path)
    expect((await at('/assets/app.js')).headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(await (await at('/a/view/of/the/page')).text()).toContain('<title>Studio')
    expect((await at('/link.js')).status).toBe(404)
    expect((await at('/%2e%2e/outside.js')).status).toBe(404)
    expect((await at('/..%2foutside.js')).status).toBe(404)
  })
})

describe('questions', () => {
  it('that make no sense are answered with the key', async () => {
    const run = '/runs/0000000000000000'
    expect(await visitor.ask(`${run}/series`)).toMatchObject({
      status: 404,
      body: { error: { code: 'studio/no-run' } },
    })
    const route = await visitor.ask<ApiError>('/nothing')
    expect([route.status, route.body.error.code]).toEqual([404, 'studio/no-route'])
    for (const [method, path] of Object.entries({ POST: '/v1/files', PATCH: '/', DELETE: '/assets/app.js' })) {
      const response = await fetch(visitor.origin + path, { method })
      const { error } = (await response.json()) as ApiError
      expect([response.status, error.code]).toEqual([404, 'studio/no-route'])
    }
  })
})
