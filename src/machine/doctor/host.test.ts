import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { localHost } from './host.js'

const host = localHost()
const node = process.execPath

describe('exec', () => {
  it('gives output and passes input', async () => {
    const copy = 'process.stdin.pipe(process.stdout)'
    expect(await host.exec(node, ['-e', copy], { input: 'abc' })).toEqual({ status: 'ok', stdout: 'abc', stderr: '' })
  })
  it('tells a failure, a missing program and one that does not end from each other', async () => {
    expect((await host.exec(node, ['-e', 'process.exit(3)'])).status).toBe('failed')
    expect((await host.exec('no-such-program-anywhere', [])).status).toBe('missing')
    expect((await host.exec('', [])).status).toBe('missing')
    expect((await host.exec('nul\0byte', [])).status).toBe('missing')
    expect((await host.exec(node, ['-e', 'setInterval(() => {}, 1000)'], { timeoutMs: 300 })).status).toBe('timeout')
  })
  it('outlives a child that does not read its input', async () => {
    const answer = await host.exec(node, ['-e', 'process.exit(0)'], { input: 'x'.repeat(1 << 20) })
    expect(answer.status).toBe('ok')
  })
})

describe('network', () => {
  const server = createServer((_, response) => response.end('hello'))
  let port = 0
  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => new Promise((done) => server.close(done)))

  it('reaches what listens', async () => {
    expect(await host.get(`http://127.0.0.1:${port}/`, 5000)).toEqual({ status: 200, body: 'hello' })
    expect(await host.reaches('127.0.0.1', port, 5000)).toBe(true)
  })
  it('answers, and does not throw, for what does not', async () => {
    expect(await host.get('http://127.0.0.1:1/', 500)).toBeUndefined()
    expect(await host.get('not a url', 500)).toBeUndefined()
    expect(await host.reaches('127.0.0.1', 1, 500)).toBe(false)
    expect(await host.reaches('127.0.0.1', 99_999, 500)).toBe(false)
  })
})

it('reads files, and answers undefined for what is not there', async () => {
  expect(await host.read(import.meta.filename ?? new URL(import.meta.url).pathname)).toContain('reads files')
  expect(await host.read('/no/such/file')).toBeUndefined()
})
