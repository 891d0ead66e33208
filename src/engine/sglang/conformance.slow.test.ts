import * as vitest from 'vitest'
import { afterAll, beforeAll, describe } from 'vitest'
import { describeEngine } from '../../testing/engine.js'
import { pairOf } from '../served/pair.fixture.js'
import { serverTestPython, startServer, type TestServer } from '../served/real-server.fixture.js'
import { TorchEngine } from '../torch/engine.js'
import { sglangServers } from './engine.js'

const python = serverTestPython(sglangServers.package)

/** A cache that fits the small model. */
const KEYS = {
  'explorer.rollout_model.extra_engine_args': { max_total_tokens: 8192, skip_server_warmup: true },
}

describe.skipIf(python.absent)(`SGLang on the CPU beside torch${python.note}`, () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(sglangServers, KEYS)
  }, 600_000)
  afterAll(() => server?.close())

  describeEngine(vitest, 'SGLang and torch', async () => ({
    engine: pairOf(new TorchEngine({ python: python.path, device: 'cpu' }), server.engine()),
    path: server.path,
  }))
})
