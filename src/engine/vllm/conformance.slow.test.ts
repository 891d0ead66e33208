import * as vitest from 'vitest'
import { afterAll, beforeAll, describe } from 'vitest'
import { describeEngine } from '../../testing/engine.js'
import { TorchEngine } from '../torch/engine.js'
import { pairOf } from './pair.fixture.js'
import { startServer, type TestServer, vllmTestPython } from './server.fixture.js'

const python = vllmTestPython()

describe.skipIf(python.absent)(`vLLM on the CPU beside torch${python.note}`, () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  }, 300_000)
  afterAll(() => server?.close())

  describeEngine(vitest, 'vLLM and torch', async () => ({
    engine: pairOf(new TorchEngine({ python: python.path, device: 'cpu' }), server.engine()),
    path: server.path,
  }))
})
