import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nextCall } from '../../engine/calls.js'
import type { SampleRequest } from '../../engine/contract.js'
import { MockEngine } from '../../engine/mock/engine.js'
import { type Connection, connectModels } from './remote.js'
import { serveModels } from './server.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-serve-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const socket = join(dir, 'x.sock')
const request = (given: Partial<SampleRequest> = {}): SampleRequest =>
  ({ prompt: Int32Array.of(1, 2), n: 2, params: { maxTokens: 3, temperature: 1, seed: 5 }, ...given }) as SampleRequest

describe('models behind a socket', () => {
  const engine = new MockEngine({ vocabSize: 16, latencyMs: 1, reward: (tokens) => tokens.length / 4 })
  let server: { close(): Promise<void> }
  let connection: Connection
  beforeAll(async () => {
    const sampler = await engine.openSample({ path: 'm' }, nextCall())
    const reward = await engine.openReward({ path: 'm' }, nextCall())
    server = await serveModels(socket, 'print', [
      { name: 'policy', role: 'rollout', sampler },
      { name: 'judge', role: 'auxiliary', reward },
    ])
    connection = (await connectModels(socket)) as Connection
  })
  afterAll(() => server.close())

  it('are described', () => {
    expect(connection.served).toMatchObject({ pid: process.pid, fingerprint: 'print' })
    expect(connection.served.models.map(({ name, kind }) => [name, kind])).toEqual([
      ['policy', 'sample'],
      ['judge', 'reward'],
    ])
  })

  it('sample and score as they do here, and count what they did', async () => {
    const own = await engine.openSample({ path: 'm' }, nextCall())
    const remote = connection.sampler(0)
    const tokens: number[] = []
    const samples = await remote.sample(request(), nextCall(), (_, token) => void tokens.push(token))
    expect(samples).toEqual(await own.sample(request(), nextCall()))
    expect(tokens).toEqual(samples.flatMap((sample) => [...sample.tokens]))
    expect(remote.stats()).toMatchObject({ promptTokens: 2, sampledTokens: tokens.length })
    const row = {
      id: 'a',
      tokens: Int32Array.of(1, 2, 3),
      start: 1,
      mask: Uint8Array.of(1, 1),
      temperature: 1,
      columns: {},
    }
    expect(await remote.score([row] as never, nextCall())).toEqual(await own.score([row] as never, nextCall()))
  })

  it('reward', async () => {
    const found = await connection.reward(1).reward([Int32Array.of(1, 2), Int32Array.of(1)], nextCall())
    expect(found).toEqual(Float32Array.of(0.5, 0.25))
  })

  it('keep their weights, and say what is wrong as errors of their own', async () => {
    await expect(connection.sampler(0).loadWeights('d', 1, 'finish', nextCall())).rejects.toMatchObject({
      code: 'engine/unsupported',
    })
    await expect(connection.sampler(1).sample(request(), nextCall())).rejects.toMatchObject({
      code: 'engine/unsupported',
      message: expect.stringContaining('model 1 does not answer /sample'),
    })
    const long = request({ prompt: new Int32Array(5000) })
    await expect(connection.sampler(0).sample(long, nextCall())).rejects.toMatchObject({
      code: expect.stringMatching(/^engine\//),
    })
  })

  it('are served once: a second server is told who serves', async () => {
    await expect(serveModels(socket, 'print', [])).rejects.toMatchObject({
      code: 'cli/debug',
      message: expect.stringContaining(`process ${process.pid}`),
      path: socket,
    })
  })

  it.skipIf(process.platform === 'win32')('are for this user alone', () => {
    expect(statSync(socket).mode & 0o777).toBe(0o600)
  })
})

it('nobody there is no connection, and what a killed server left is replaced', async () => {
  expect(await connectModels(join(dir, 'nobody.sock'))).toBeUndefined()
  const stale = join(dir, 'stale.sock')
  writeFileSync(stale, '')
  const server = await serveModels(stale, 'print', [])
  expect(await connectModels(stale)).toMatchObject({ served: { models: [] } })
  await server.close()
  expect(existsSync(stale)).toBe(false)
})

it('a server that was started again answers; one that has ended is called by its name', async () => {
  const engine = new MockEngine({ vocabSize: 16 })
  const path = join(dir, 'again.sock')
  const serve = async () => {
    const sampler = await engine.openSample({ path: 'm' }, nextCall())
    return serveModels(path, 'print', [{ name: 'policy', role: 'rollout', sampler }])
  }
  let server = await serve()
  const remote = ((await connectModels(path)) as Connection).sampler(0)
  await remote.sample(request(), nextCall())
  await server.close()
  server = await serve()
  expect(await remote.sample(request(), nextCall())).toHaveLength(2)
  await server.close()
  await expect(remote.sample(request(), nextCall())).rejects.toMatchObject({
    code: 'engine/server-gone',
    hint: expect.stringContaining('inference_model'),
  })
})
