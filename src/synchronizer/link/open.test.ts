import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nextCall } from '../../engine/calls.js'
import type { SampleModel, TrainModel, WeightWay } from '../../engine/contract.js'
import { MockEngine } from '../../engine/mock/engine.js'
import { openLink } from './open.js'

const never = async (): Promise<never> => {
  throw new Error('these weights were not to be written')
}
const engine = (name: string, ...weights: WeightWay[]) => ({ name, caps: { weights } })
const model = (parts: object) => parts as TrainModel & SampleModel
const member = (protocol: string) => ({ protocol }) as never

describe('the way of weights between two engines', () => {
  const home = {}
  const here = model({ home, sender: member('p'), receiver: member('p') })
  const there = model({ home: {}, receiver: member('p') })
  const stranger = model({ home: {}, receiver: member('q') })
  const all = engine('all', 'memory', 'nccl', 'checkpoint')
  const way = (to: SampleModel, method?: WeightWay, takes = all) =>
    openLink({ from: here, to: [to], sends: all, takes }, { method, write: never }).way

  it('is the cheapest that both sides have', () => {
    expect(way(here)).toBe('memory')
    expect(way(there)).toBe('nccl')
    expect(way(stranger)).toBe('checkpoint')
    expect(way(there, undefined, engine('files', 'checkpoint'))).toBe('checkpoint')
  })

  it('is narrowed by sync_method; where nothing has to be sent, nccl sends nothing', () => {
    expect(way(here, 'checkpoint')).toBe('checkpoint')
    expect(way(here, 'nccl')).toBe('memory')
    expect(way(there, 'nccl')).toBe('nccl')
  })

  it('that does not exist is an error that says what each side can', () => {
    expect(() => way(there, 'memory')).toThrowError(
      expect.objectContaining({
        code: 'sync/no-way',
        message: 'weights cannot go from all to all by memory',
        hint: expect.stringContaining('between these two: nccl, checkpoint'),
      }),
    )
    expect(() => way(here, undefined, engine('deaf'))).toThrowError(/from all to deaf/)
  })

  it('is one for all samplers', () => {
    const to = [here, there]
    expect(openLink({ from: here, to, sends: all, takes: all }, { write: never }).way).toBe('checkpoint')
  })
})

describe('weights that travel', () => {
  let dir: string
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'trinity-link-'))
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))

  it.each(['memory', 'checkpoint'] as const)('arrive by %s as they were sent', async (method) => {
    const [sends, takes] = [new MockEngine({ vocabSize: 8 }), new MockEngine({ vocabSize: 8 })]
    const from = (await sends.openTrain({ path: 'm' }, nextCall())) as TrainModel & {
      bigram: { weights: Float64Array }
    }
    const to = await takes.openSample({ path: 'm' }, nextCall())
    from.bigram.weights.forEach((_, i) => {
      from.bigram.weights[i] = Math.sin(i)
    })
    const write = async (version: number, save: (dir: string) => Promise<void>) => {
      const folder = join(dir, `${version}`)
      await save(folder)
      return folder
    }
    const link = openLink({ from, to: [to], sends, takes }, { method, write })
    const { ms } = await link.transfer(3, 'finish', nextCall())
    expect(ms).toBeGreaterThanOrEqual(0)
    expect(to.version).toBe(3)
    expect(existsSync(join(dir, '3'))).toBe(method === 'checkpoint')
    const row = {
      id: 'r',
      tokens: Int32Array.of(1, 2, 3),
      start: 1,
      mask: new Uint8Array(2),
      temperature: 1,
      columns: {},
    }
    const [want] = await from.forward({ rows: [row], tokenBudget: 9 }, { scores: ['logprob'] }, nextCall())
    const [got] = await to.score([row], nextCall())
    expect(got.logprob).toEqual(want.logprob)
  })
})
