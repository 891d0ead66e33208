import * as vitest from 'vitest'
import { afterAll, beforeAll, describe } from 'vitest'
import { describeEngine } from '../../testing/engine.js'
import { pairOf } from '../served/pair.fixture.js'
import { serverTestPython, startServer, type TestServer } from '../served/real-server.fixture.js'
import { TorchEngine } from '../torch/engine.js'
import { vllmServers } from './engine.js'

const python = serverTestPython(vllmServers.package)

describe.skipIf(python.absent)(`vLLM on the CPU beside torch${python.note}`, () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(vllmServers)
  }, 600_000)
  afterAll(() => server?.close())

  describeEngine(vitest, 'vLLM and torch', async () => ({
    engine: pairOf(new TorchEngine({ python: python.path, device: 'cpu' }), server.engine()),
    path: server.path,
  }))
})
