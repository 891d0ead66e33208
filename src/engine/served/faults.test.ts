import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createModel } from '../../model/create.js'
import type { Call, SampleModel, SampleRequest, SampleSpec } from '../contract.js'
import { servedCaps } from './caps.js'
import { ServedEngine } from './engine.js'
import { ScriptedSource } from './scripted.fixture.js'

let dir: string
let path: string
const shape = { layers: 1, heads: 2, maxPositions: 64, tokenizer: { kind: 'bytes' } as const }
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-served-'))
  path = join(dir, 'model')
  await createModel({ out: path, hidden: 16, ...shape })
  await createModel({ out: join(dir, 'next'), hidden: 16, seed: 2, ...shape })
  await createModel({ out: join(dir, 'other'), hidden: 32, ...shape })
})
afterAll(() => rm(dir, { recursive: true, force: true }))

let seq = 0
const call = (signal?: AbortSignal, deadlineMs = 10_000): Call => ({ seq: ++seq, deadlineMs, signal })
const request = (maxTokens = 3, more: Partial<SampleRequest> = {}): SampleRequest => ({
  prompt: Int32Array.of(1, 2, 3),
  n: 1,
  params: { temperature: 1, maxTokens },
  ...more,
})

async function opened(sources: ScriptedSource[], spec: Partial<SampleSpec> = {}) {
  const notes: string[] = []
  const caps = { ...servedCaps }
  const note = (text: string) => void notes.push(text)
  const engine = new ServedEngine({ name: 'fake', title: 'Fake', caps, sources: async () => sources, note })
  return { engine, notes, model: await engine.openSample({ path, ...spec }, call()) }
}

const until = async (true_: () => boolean) => {
  for (let i = 0; i < 500 && !true_(); i++) await new Promise((resolve) => setTimeout(resolve, 2))
  expect(true_()).toBe(true)
}

describe('requests', () => {
  it('go to the idlest server, and to the one that knows their beginning', async () => {
    const sources = [new ScriptedSource('a'), new ScriptedSource('b')]
    const { model } = await opened(sources)
    for (const { server } of sources) server.tokenMs = 5
    await Promise.all(Array.from({ length: 6 }, () => model.sample(request(), call())))
    const made = sources.map(({ server }) => server.log.filter((what) => what === 'generate').length)
    expect(made).toEqual([3, 3])
    const long = request(3, { prompt: new Int32Array(40).fill(5) })
    for (let i = 0; i < 4; i++) await model.sample(long, call())
    const now = sources.map(({ server }) => server.log.filter((what) => what === 'generate').length)
    expect(now.toSorted()).toEqual([3, 7])
    await model.close()
  })

  it('are tried elsewhere when their server dies, which comes back with the weights of the others', async () => {
    const sources = [new ScriptedSource('a'), new ScriptedSource('b')]
    const { model, notes } = await opened(sources)
    await model.loadWeights(join(dir, 'next'), 7, 'finish', call())
    const [first] = sources
    const before = first.server
    before.tokenMs = 5
    let tokens = 0
    before.before = (what) => {
      if (what === 'token' && ++tokens === 2) first.kill()
    }
    const [sample] = await model.sample(request(6), call())
    expect(sample).toMatchObject({ finish: 'length', versions: [{ version: 7, from: 0 }] })
    expect(sources[1].server.log).toContain('generate')
    await until(() => notes.some((text) => text.includes('is back')))
    expect(first.starts).toBe(2)
    expect(first.server).not.toBe(before)
    expect(first.server.version).toBe('7')
    await model.close()
  })

  it('wait where the only server is lost, and fail when it never returns', async () => {
    const lonely = new ScriptedSource('a', (server, start) => {
      if (start > 2)
        server.before = () => {
          throw new Error('no more')
        }
    })
    const { model } = await opened([lonely])
    lonely.kill()
    expect((await model.sample(request(), call()))[0].tokens).toHaveLength(3)
    expect(model.stats()).toMatchObject({ running: 0, waiting: 0, promptTokens: 3, sampledTokens: 3 })
    lonely.kill()
    await expect(model.sample(request(), call())).rejects.toMatchObject({ code: 'engine/server' })
    await model.close()
  })

  it('fail when the sampler is closed under them', async () => {
    const source = new ScriptedSource('a')
    const { model } = await opened([source])
    source.server.tokenMs = 5
    const asked = model.sample(request(20), call()).catch((error) => error)
    await until(() => source.server.log.includes('generate'))
    source.server.dead = true
    await model.close()
    expect(await asked).toMatchObject({ code: 'fake/unreachable' })
  })

  it('that were aborted give what there is; those that wait give nothing', async () => {
    const source = new ScriptedSource('a')
    const { model } = await opened([source], { maxBatch: 1, maxQueue: 1 })
    source.server.tokenMs = 5
    const control = new AbortController()
    const [running, waiting] = [1, 2].map(() => model.sample(request(50), call(control.signal)))
    await expect(model.sample(request(), call())).rejects.toMatchObject({ code: 'engine/busy' })
    setTimeout(() => control.abort(), 40)
    const [[begun], [none]] = await Promise.all([running, waiting])
    expect(begun.finish).toBe('abort')
    expect(begun.tokens.length).toBeGreaterThan(0)
    expect(none).toMatchObject({ finish: 'abort', versions: [] })
    expect(none.tokens).toHaveLength(0)
    await model.close()
  })

  it('that a server cannot answer by our definitions are refused', async () => {
    const source = new ScriptedSource('a')
    source.server.facts = { ...source.server.facts, logprobs: 'raw' }
    const { model, engine } = await opened([source])
    expect(engine.caps.logprobs).toBe('raw')
    const cold = request(3, { params: { temperature: 0.5, maxTokens: 3 } })
    await expect(model.sample(cold, call())).rejects.toMatchObject({ code: 'engine/logprobs' })
    const masked = request(3, { allowed: () => undefined })
    await expect(model.sample(masked, call())).rejects.toMatchObject({ code: 'engine/unsupported' })
    await expect(engine.openTrain()).rejects.toMatchObject({ code: 'engine/unsupported' })
    await model.close()
  })
})

describe('weights', () => {
  const weightsOf = (sources: ScriptedSource[]) => sources.map(({ server }) => server.weights)

  it('reach all servers, or none', async () => {
    const sources = [new ScriptedSource('a'), new ScriptedSource('b')]
    const { model } = await opened(sources)
    const next = join(dir, 'next')
    await model.loadWeights(next, 1, 'finish', call())
    expect(weightsOf(sources)).toEqual([next, next])
    sources[1].server.before = (what) => {
      if (what === 'reload 2') throw new Error('disk full')
    }
    await expect(model.loadWeights(path, 2, 'finish', call())).rejects.toThrow('disk full')
    expect(weightsOf(sources)).toEqual([next, next])
    expect(sources.map(({ server }) => server.version)).toEqual(['1', '1'])
    expect(model.version).toBe(1)
    expect(sources.map(({ server }) => server.log.at(-1))).toEqual(['resume', 'resume'])
    await model.close()
  })

  it('that a server did not take and cannot give back cost it its place', async () => {
    const sources = [new ScriptedSource('a'), new ScriptedSource('b')]
    const { model, notes } = await opened(sources)
    await model.loadWeights(path, 1, 'finish', call())
    const before = sources[1].server
    before.before = (what) => {
      if (what.startsWith('reload')) throw new Error('broken')
    }
    await expect(model.loadWeights(join(dir, 'next'), 2, 'finish', call())).rejects.toThrow('broken')
    await until(() => notes.some((text) => text.includes('is back')))
    expect(weightsOf(sources)).toEqual([path, path])
    expect(sources[1].server).not.toBe(before)
    await model.close()
  })

  it('go on to the others when a server dies over them', async () => {
    const sources = [new ScriptedSource('a'), new ScriptedSource('b')]
    const { model, notes } = await opened(sources)
    const [first] = sources
    first.server.before = (what) => {
      if (what !== 'reload 1') return
      first.kill()
      throw new Error('gone')
    }
    await model.loadWeights(join(dir, 'next'), 1, 'continue', call())
    expect(model.version).toBe(1)
    await until(() => notes.some((text) => text.includes('is back')))
    expect(sources.map(({ server }) => server.version)).toEqual(['1', '1'])
    await model.close()
  })

  it('of another kind of model are refused before any server hears of them', async () => {
    const source = new ScriptedSource('a')
    const { model } = await opened([source])
    const wrong = model.loadWeights(join(dir, 'other'), 1, 'finish', call())
    await expect(wrong).rejects.toMatchObject({ code: 'engine/other-model' })
    expect(source.server.log.some((what) => what.startsWith('pause'))).toBe(false)
    await model.close()
  })

  it('come after requests in flight, and before those that wait', async () => {
    const source = new ScriptedSource('a')
    const { model } = await opened([source])
    source.server.tokenMs = 3
    const begun = model.sample(request(10), call())
    await until(() => source.server.log.includes('generate'))
    const loading = model.loadWeights(path, 3, 'finish', call())
    await new Promise((resolve) => setTimeout(resolve, 5))
    const after = model.sample(request(2), call())
    const [[old], , [young]] = await Promise.all([begun, loading, after])
    expect(old.versions).toEqual([{ version: -1, from: 0 }])
    expect(young.versions).toEqual([{ version: 3, from: 0 }])
    await model.saveWeights(join(dir, 'saved'), call())
    expect(await readdir(join(dir, 'saved'))).toContain('model.safetensors')
    await model.close()
    await expect(model.sample(request(), call())).rejects.toMatchObject({ code: 'engine/closed' })
  })
})

it('scores given tokens', async () => {
  const { model }: { model: SampleModel } = await opened([new ScriptedSource('a')])
  const row = {
    id: 'r',
    tokens: Int32Array.of(1, 2, 3, 4),
    start: 2,
    mask: new Uint8Array(2),
    temperature: 1,
    columns: {},
  }
  expect(await model.score([row], call())).toEqual([{ id: 'r', logprob: new Float32Array(2).fill(-2) }])
  await model.close()
})
