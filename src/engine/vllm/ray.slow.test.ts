import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canMakeNetworks } from '../../../test/support/networks.js'
import { RayCluster, rayPython } from '../../../test/support/ray.js'
import { Roster, readRosters } from '../../machine/ground/roster.js'
import { RayGround } from '../../machine/ray/ground.js'
import type { Call } from '../contract.js'
import { serverTestPython, startServer, type TestServer } from '../served/real-server.fixture.js'
import { vllmServers } from './engine.js'

const python = serverTestPython(vllmServers.package)
/** Only the second node has room. */
const CPUS = [0, 1]

describe.skipIf(python.absent || rayPython.absent)(
  `a vLLM server on a node of Ray${python.note}${rayPython.note}`,
  () => {
    const dir = mkdtempSync(join(tmpdir(), 'trinity-vllm-ray-'))
    const roster = new Roster(dir)
    let cluster: RayCluster
    let ground: RayGround
    let server: TestServer

    beforeAll(async () => {
      cluster = await RayCluster.start(CPUS, { apart: canMakeNetworks })
      ground = await RayGround.open({ address: cluster.address, namespace: 'test', python: rayPython.path })
      server = await startServer(vllmServers, {}, { roster, ground: async () => ground })
    }, 900_000)
    afterAll(async () => {
      await server?.close()
      await ground?.close()
      cluster?.close()
      rmSync(dir, { recursive: true, force: true })
    }, 60_000)

    it('samples, is seen, and is missed when its node is gone', async () => {
      const call: Call = { seq: 1, deadlineMs: 120_000 }
      const engine = server.engine()
      const model = await engine.openSample({ path: server.path, maxModelLen: 256 }, call)
      const [sample] = await model.sample(
        { prompt: Int32Array.of(3, 7), n: 1, params: { temperature: 1, maxTokens: 20, ignoreEos: true, seed: 1 } },
        call,
      )
      expect(sample.tokens).toHaveLength(20)
      await engine.close()
      await expect
        .poll(() => readRosters(dir), { timeout: 5000 })
        .toMatchObject([{ name: 'rollout_0', node: cluster.host(1), state: 'ready' }])
      const lost = new Promise<string>((resolve) => {
        server.server.onLost = resolve
      })
      cluster.kill(1)
      expect(await lost).toMatch(/^was lost with node /)
    }, 180_000)
  },
)
