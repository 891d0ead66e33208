import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canMakeNetworks } from '../../../test/support/networks.js'
import { RayCluster, rayPython } from '../../../test/support/ray.js'
import { fixture } from '../../../test/support/test-data.js'
import { defineLoss } from '../../graph/index.js'
import { RayGround } from '../../machine/ray/ground.js'
import type { Call, Row } from '../contract.js'
import { TorchEngine } from './engine.js'
import type { TorchOptions } from './options.js'

/** Room for one rank on each node. */
const CPUS = [1, 1]
const STEPS = 3

describe.skipIf(rayPython.absent)(`a trainer of two ranks${rayPython.note}`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-over-nodes-'))
  let seq = 0
  const call = (): Call => ({ seq: ++seq, deadlineMs: 180_000 })
  let cluster: RayCluster
  const python = rayPython.path

  beforeAll(async () => {
    cluster = await RayCluster.start(CPUS, { apart: canMakeNetworks })
  }, 900_000)
  afterAll(() => {
    cluster?.close()
    rmSync(dir, { recursive: true, force: true })
  })

  async function trained(name: string, options: TorchOptions): Promise<{ files: Buffer; norms: number[] }> {
    const engine = new TorchEngine({ python, device: 'cpu', devices: 2, ...options })
    try {
      const model = await engine.openTrain({ path: fixture('tiny-qwen2'), seed: 1 }, call())
      const norms: number[] = []
      for (let step = 0; step < STEPS; step++) {
        await model.forwardBackward({ rows: someRows(), tokenBudget: 64 }, likelier, call())
        const given = { lr: 0.01, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0, gradClip: 1 } as const
        norms.push((await model.optimStep(given, call())).gradNorm)
      }
      await model.saveWeights(join(dir, name), call())
      return { files: readFileSync(join(dir, name, 'model.safetensors')), norms }
    } finally {
      await engine.close()
    }
  }

  it('learns the same on two nodes as on one, to the last bit', async () => {
    const here = await trained('here', {})
    const ground = await RayGround.open({ address: cluster.address, namespace: 'test', python })
    const ranks = new Map<number, string | undefined>()
    const log = (rank: number, line: string, node?: string) => void (line.startsWith('rank ') && ranks.set(rank, node))
    const there = await trained('there', { ground, nodes: 2, log }).finally(() => ground.close())
    expect([...ranks.values()].toSorted()).toEqual([cluster.host(0), cluster.host(1)].toSorted())
    expect(there.norms).toEqual(here.norms)
    expect(there.files.equals(here.files)).toBe(true)
  }, 900_000)
})

const likelier = defineLoss((g) =>
  g.logprob
    .neg()
    .total()
    .div(g.norm('tokens', (rows) => rows.length)),
)

function someRows(): Row[] {
  return [5, 9, 7].map((length, i) => {
    const tokens = Int32Array.from({ length }, (_, j) => (i * 7 + j * 3 + 3) % 20)
    return { id: `${i}`, tokens, start: 1, mask: new Uint8Array(length - 1).fill(1), temperature: 1, columns: {} }
  })
}
