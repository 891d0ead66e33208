import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withKeys } from '../../../test/config-kit.js'
import type { LogDir } from '../../base/log/logger.js'
import { pythonHaving } from '../../machine/python/having.js'
import { createModel } from '../../model/index.js'
import { AttachedServer } from '../served/attached-server.js'
import { ServedEngine } from '../served/engine.js'
import { serversOf } from '../served/from-config.js'
import type { OwnedServer } from '../served/owned-server.js'
import { VllmApi } from './api.js'
import { vllmCaps } from './description.js'
import { vllmServers } from './engine.js'

/** A Python with vLLM, for tests: TRINITY_VLLM_PYTHON. */
export function vllmTestPython(): { path: string; absent: boolean; note: string } {
  const path = pythonHaving('vllm')
  const note = path === undefined ? ' (skipped: no Python with vLLM, set TRINITY_VLLM_PYTHON)' : ''
  return { path: path ?? '', absent: path === undefined, note }
}

/** TRINITY_TEST_LOG: a file that gets what servers say. */
function testLogs(): LogDir | undefined {
  const file = process.env.TRINITY_TEST_LOG
  if (!file) return undefined
  const write = (text: string) => appendFileSync(file, `${text}\n`)
  return { logger: () => ({ debug: write, info: write, warn: write, error: write }), close: async () => {} }
}

export interface TestServer {
  readonly baseUrl: string
  readonly path: string
  readonly server: OwnedServer
  /** An engine attached to it. */
  engine(): ServedEngine
  close(): Promise<void>
}

/** A real server of a small model on the processor. Heads of 32 numbers: vLLM computes no smaller ones there. */
export async function startServer(keys: Record<string, unknown> = {}): Promise<TestServer> {
  const dir = await mkdtemp(join(tmpdir(), 'trinity-vllm-'))
  const path = join(dir, 'model')
  await createModel({
    out: path,
    layers: 2,
    hidden: 64,
    heads: 2,
    maxPositions: 256,
    tokenizer: { kind: 'bytes' },
    seed: 3,
  })
  const config = withKeys(
    {
      'explorer.rollout_model.engine_type': 'vllm',
      'explorer.rollout_model.dtype': 'float32',
      'explorer.rollout_model.enforce_eager': true,
      ...keys,
    },
    { hasPackage: () => true },
  )
  const sources = serversOf(config, { logs: testLogs() }, vllmServers)
  const [server] = (await sources(0, { path, maxModelLen: 256 })) as OwnedServer[]
  const { url: baseUrl } = await server.open(new AbortController().signal)
  const newApi = (url: string) => new VllmApi(url)
  return {
    baseUrl,
    path,
    server,
    engine: () =>
      new ServedEngine({
        name: 'vllm',
        title: 'vLLM',
        caps: vllmCaps,
        sources: async () => [new AttachedServer({ title: 'vLLM', baseUrl, newApi })],
      }),
    close: async () => {
      await server.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
