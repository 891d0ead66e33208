import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { Checkpoints } from '../../src/checkpoint/index.js'
import { MockEngine } from '../../src/engine/mock/engine.js'
import type { TrinityClient } from '../../src/serve/client.js'
import { Bench } from './kit.js'
import { Served } from './serve-kit.js'

let bench: Bench
const servers: Served[] = []
const serve = async (set = {}, mock = {}, name?: string) => {
  const served = await Served.open(bench, set, mock, name)
  servers.push(served)
  return served
}
const failed = (set: Record<string, unknown>) => new Served(bench, set).ended
beforeAll(async () => {
  bench = await Bench.make()
})
afterEach(async () => {
  for (const one of servers.splice(0)) await one.end()
})
afterAll(() => bench.remove())

const CALL = { seq: 1, deadlineMs: 10_000 }

async function ask(client: TrinityClient, content = '1+1=', more: object = {}) {
  const response = await client.fetch(`${client.baseURL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content }], max_tokens: 6, ...more }),
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return response
}

const idOf = async (asked: Promise<Response>) => ((await (await asked).json()) as { id: string }).id

function post(url: string, body?: string, type = 'application/json') {
  return fetch(url, { method: 'POST', headers: body === undefined ? {} : { 'content-type': type }, body })
}

describe('mode serve', { timeout: 60_000 }, () => {
  it('answers, takes feedback, and gives the trainer what was said with its reward', async () => {
    const served = await serve()
    const [a, b] = [0, 1].map((runId) => served.client({ taskId: 'sum', runId }))
    const id = await idOf(ask(a))
    await (await ask(b)).json()
    await (await ask(b, '2+2=', { n: 2 })).json()
    await (await ask(served.client(), '3+3=')).text()
    expect(a.ids).toEqual([id])
    expect(await a.feedback(1)).toEqual({ count: 1 })
    expect(a.ids).toEqual([])
    expect(await a.feedback(0, { ids: [id] })).toEqual({ count: 0 })
    expect(await b.feedback(0.5)).toEqual({ count: 3 })
    expect(await a.metrics()).toMatchObject({
      'rollout/model_0/total_request_count': 4,
      'rollout/model_0/model_version': 0,
      'rollout/total_experience_count': 5,
      'rollout/ready_experience_count': 4,
      explore_step_num: 0,
    })
    expect(await a.commit()).toEqual({ count: 4, step: 1 })
    expect(await a.commit()).toEqual({ count: 0, step: 1 })
    await served.end()
    const taken = await served.taken()
    expect(taken.map(({ eid, reward }) => [eid.batch, eid.task, eid.run, eid.step, reward])).toEqual([
      [1, 'sum', 0, 0, 1],
      [1, 'sum', 1, 0, 0.5],
      [1, 'sum', 1, 1, 0.5],
      [1, 'sum', 1, 2, 0.5],
    ])
    expect(taken[0].eid.suffix).toBe(id)
    expect(taken[0].logprobs).toHaveLength(taken[0].tokens.length - taken[0].promptLength)
    expect(taken.every(({ advantages }) => advantages !== undefined)).toBe(true)
    expect(bench.metrics('explorer', served.name)).toMatchObject([
      { step: 1, 'rollout/reward/mean': 0.75, 'rollout/ready_experience_count': 4, explore_step_num: 1 },
    ])
    expect(existsSync(bench.job(served.name, 'explorer_server_url.txt'))).toBe(false)
  })

  it('knows after a restart what it knew: what waits for feedback, what has some, what was committed', async () => {
    const first = await serve()
    const client = first.client()
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.push(await idOf(ask(client)))
    await client.feedback(1, { ids: [ids[0]] })
    await client.commit()
    await client.feedback(1, { ids: [ids[1]] })
    await first.end()
    const second = await serve({}, {}, first.name)
    const again = second.client()
    expect(second.view.notes).toContainEqual('resumes after commit 1')
    expect(await again.metrics()).toMatchObject({
      ...{ 'rollout/total_experience_count': 3, 'rollout/ready_experience_count': 2, explore_step_num: 1 },
    })
    expect(await again.feedback(0, { ids })).toEqual({ count: 1 })
    expect(await again.commit()).toEqual({ count: 2, step: 2 })
    await second.end()
    const rewards = (await second.taken()).map(({ eid, reward }) => [eid.suffix, reward])
    expect(rewards).toEqual([
      [ids[0], 1],
      [ids[1], 1],
      [ids[2], 0],
    ])
  })

  it('says in JSON what is wrong with feedback, and then changes nothing', async () => {
    const served = await serve()
    const client = served.client()
    const id = await idOf(ask(client))
    const feedback = async (body: string | undefined, type?: string) => {
      const response = await post(`${client.url}/feedback`, body, type)
      return { status: response.status, ...((await response.json()) as object) }
    }
    const unknown = await feedback(JSON.stringify({ reward: 1, msg_ids: [id, 'chatcmpl-nope'] }))
    expect(unknown).toMatchObject({
      status: 404,
      error: { code: 'serve/unknown-message', message: expect.stringContaining("'chatcmpl-nope'") },
    })
    expect(await feedback('{"reward": 1e999, "msg_ids": ["a"]}')).toMatchObject({ status: 400 })
    expect(await feedback('{"reward": ')).toMatchObject({ status: 400 })
    expect(await feedback('[]')).toMatchObject({ status: 400 })
    expect(await feedback(undefined)).toMatchObject({ status: 400 })
    expect(await feedback('reward=1', 'application/x-www-form-urlencoded')).toMatchObject({ status: 415 })
    expect((await fetch(`${client.url}/feedback`)).status).toBe(405)
    expect((await post(`${client.url}/commit`, '{"step": 3}')).status).toBe(400)
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (body) => {
        const { status } = await post(`${client.url}/feedback`, body)
        return [400, 404].includes(status)
      }),
      { numRuns: 100 },
    )
    const metrics = await client.metrics()
    expect(metrics['rollout/ready_experience_count']).toBe(0)
    expect(await client.alive()).toBe(true)
    await expect(client.feedback(1, { ids: ['x'] })).rejects.toMatchObject({
      code: 'serve/refused',
      message: expect.stringMatching(/POST .*\/feedback: 404 no answer has the id 'x'/),
    })
  })

  it('metrics are JSON for who asks for nothing, and text for a scraper', async () => {
    const served = await serve()
    const url = `${served.url}/metrics`
    expect(await (await fetch(url)).json()).toMatchObject({ explore_step_num: 0 })
    const accept = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1'
    const text = await (await fetch(url, { headers: { accept } })).text()
    expect(text).toMatch(/^trinity_gateway_requests_total 0$/m)
    expect(text).toMatch(/^trinity_rollout_ready_experience_count 0$/m)
  })

  it('records nothing of an answer that its client did not get', async () => {
    const served = await serve({}, { latencyMs: 30 })
    const client = served.client()
    const control = new AbortController()
    const response = await fetch(`${client.baseURL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        messages: [{ role: 'user', content: '1+1=' }],
        max_tokens: 40,
        stream: true,
        ignore_eos: true,
      }),
      signal: control.signal,
    })
    const reader = response.body!.getReader()
    await reader.read()
    control.abort()
    await reader.read().catch(() => {})
    await sleep(200)
    expect(await client.metrics()).toMatchObject({ 'rollout/total_experience_count': 0 })
    const id = response.headers.get('x-request-id')!
    await expect(client.feedback(1, { ids: [id] })).rejects.toThrow(/404/)
  })

  it.each([1, 2])(
    'new weights come while %i engines answer: no stream is cut, and each says which weights it had',
    async (engines) => {
      const set = { 'explorer.rollout_model.engine_num': engines, 'explorer.service_status_check_interval': 1 }
      const served = await serve(set, { latencyMs: 80 })
      const trained = await new MockEngine({ vocabSize: 24 }).openTrain({ path: bench.job('..', 'model') }, CALL)
      const checkpoints = await Checkpoints.open({ dir: bench.job(served.name), roles: ['trainer'], warn: () => {} })
      const clients = Array.from({ length: 8 }, (_, runId) => served.client({ taskId: 't', runId }))
      // long enough that new weights, for which it looks every second, come before the end
      const more = { stream: true, max_tokens: 48, ignore_eos: true }
      const begun = await Promise.all(clients.map((client) => ask(client, '1+1=', more)))
      await checkpoints.saveWeights(1, (dir) => trained.saveWeights(dir, CALL))
      const texts = await Promise.all(begun.map((response) => response.text()))
      for (const [i, client] of clients.entries()) await client.feedback(i)
      for (const text of texts) {
        expect(text).toMatch(/\[DONE\]\s*$/)
        expect(text).not.toContain('"error"')
      }
      const client = served.client()
      await vi.waitFor(async () => {
        const metrics = await client.metrics()
        for (let i = 0; i < engines; i++) expect(metrics[`rollout/model_${i}/model_version`]).toBe(1)
      }, 15_000)
      await (await ask(client)).text()
      await client.feedback(1)
      await client.commit()
      await checkpoints.close()
      await served.end()
      const taken = await served.taken()
      expect(taken).toHaveLength(9)
      const spans = taken.map(({ versions, modelVersion }) => versions?.map(({ version }) => version) ?? [modelVersion])
      // alone, an engine goes on with the new weights; where there is another, it finishes first
      expect(spans.slice(0, 8)).toEqual(new Array(8).fill(engines === 1 ? [0, 1] : [0]))
      expect(spans[8]).toEqual([1])
    },
  )

  it('asked to stop, finishes what is under way and takes no more', async () => {
    const served = await serve({}, { latencyMs: 60 })
    const client = served.client()
    const [url] = [served.url]
    const answer = await ask(client, '1+1=', { stream: true, max_tokens: 20, ignore_eos: true })
    served.stop.request()
    await sleep(30)
    expect((await post(`${url}/v1/chat/completions`, '{}')).status).toBe(503)
    expect(await client.alive()).toBe(false)
    expect(await answer.text()).toMatch(/\[DONE\]\s*$/)
    expect(await client.feedback(1).catch((error) => error.code)).toSatisfy(
      (told) => told === 'serve/unreachable' || told.count === 1,
    )
    expect(await served.ended).toMatchObject({ end: 'stopped' })
  })

  it('fails well', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    await expect(failed({ 'explorer.proxy_port': port })).rejects.toMatchObject({
      ...{ code: 'config/port', path: 'explorer.proxy_port', message: expect.stringContaining(`127.0.0.1:${port}`) },
    })
    taken.close()
    await expect(failed({ 'explorer.listen_address': '0.0.0.0' })).rejects.toMatchObject({
      ...{ code: 'config/serve', path: 'explorer.listen_address' },
    })
    const tls = { 'explorer.proxy_tls_cert': bench.job('..', 'tasks.jsonl'), 'explorer.proxy_tls_key': 'nowhere.pem' }
    await expect(failed(tls)).rejects.toMatchObject({ code: 'config/serve', path: 'explorer.proxy_tls_key' })
    await expect(failed({ ...tls, 'explorer.proxy_tls_key': bench.job('..', 'tasks.jsonl') })).rejects.toMatchObject({
      ...{ code: 'config/serve', path: 'explorer.proxy_tls_cert' },
    })
    await expect(failed({ 'explorer.proxy_tls_cert': 'c.pem' })).rejects.toMatchObject({
      ...{ code: 'config/serve', path: 'explorer.proxy_tls_key' },
    })
  })

  it('with a key everything needs the key', async () => {
    const served = await serve({ 'explorer.proxy_api_key': 'sesame', 'explorer.listen_address': '127.0.0.1' })
    const client = served.client({ apiKey: 'sesame' })
    await (await ask(client)).json()
    expect(await client.feedback(1)).toEqual({ count: 1 })
    const stranger = served.client()
    await expect(ask(stranger)).rejects.toThrow(/401/)
    await expect(stranger.commit()).rejects.toThrow(/401/)
    await expect(stranger.metrics()).rejects.toThrow(/401/)
    expect(await client.commit()).toEqual({ count: 1, step: 1 })
  })
})
