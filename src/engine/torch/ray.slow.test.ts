import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RayCluster, rayPython } from '../../../test/support/ray.js'
import { fixture } from '../../../test/support/test-data.js'
import { RayGround } from '../../machine/ray/ground.js'
import { directLink } from '../../testing/direct-link.js'
import type { Call, Row, SampleModel, TrainModel } from '../contract.js'
import { TorchEngine } from './engine.js'

/** Room for a trainer of two ranks on one node, and for a sampler on the other. */
const CPUS = [2, 1]

describe.skipIf(rayPython.absent)(`torch workers on a Ray of two nodes${rayPython.note}`, () => {
  let seq = 0
  const call = (): Call => ({ seq: ++seq, deadlineMs: 180_000 })
  let cluster: RayCluster
  let engine: TorchEngine
  let ground: RayGround
  let trained: TrainModel
  let sampler: SampleModel
  const lines: string[] = []
  const row: Row = {
    id: 'a',
    tokens: Int32Array.of(1, 2, 3, 4),
    start: 1,
    mask: new Uint8Array(3).fill(1),
    temperature: 1,
    columns: {},
  }

  beforeAll(async () => {
    cluster = await RayCluster.start(CPUS)
    const python = rayPython.path
    ground = await RayGround.open({ address: cluster.address, namespace: 'test', python })
    expect(ground.cluster.nodes.map(({ cpus }) => cpus).toSorted()).toEqual([1, 2])
    const log = (rank: number, line: string) => void lines.push(`${rank} ${line}`)
    engine = new TorchEngine({ python, device: 'cpu', devices: 2, samplers: 1, ground, log })
  }, 900_000)
  afterAll(async () => {
    await engine?.close()
    await ground?.close()
    cluster?.close()
  }, 60_000)

  it('train on one node and sample on the other, with the weights of the trainer', async () => {
    const path = fixture('tiny-qwen2')
    trained = await engine.openTrain({ path, seed: 1 }, call())
    sampler = await engine.openSample({ path, seed: 1, cacheTokens: 512 }, call())
    expect(lines.filter((line) => / of \d on cpu/.test(line))).toHaveLength(3)
    const link = directLink(engine, trained, [sampler])
    const { checksum } = await link.transfer(1, 'finish', call())
    expect((await link.transfer(2, 'finish', call())).checksum).toBe(checksum)
    expect(sampler.version).toBe(2)
    const [theirs] = await trained.forward({ rows: [row], tokenBudget: 64 }, { scores: ['logprob'] }, call())
    const [own] = await sampler.score([row], call())
    for (const [i, value] of own.logprob!.entries()) expect(value).toBeCloseTo(theirs.logprob![i], 4)
  }, 900_000)

  it('end with the name of a node that is lost', async () => {
    const lost = sampler.sample(
      { prompt: Int32Array.of(3, 7), n: 2, params: { temperature: 1, maxTokens: 60, ignoreEos: true } },
      call(),
    )
    cluster.kill(1)
    await expect(lost.then(() => sampler.score([row], call()))).rejects.toMatchObject({
      code: 'engine/worker-died',
      message: expect.stringMatching(/^torch worker 0 was lost with node \S+ \([\d.]+\)$/),
    })
  }, 120_000)
})
