import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withKeys } from '../../../test/config-kit.js'
import type { LogDir } from '../../base/log/logger.js'
import { pythonHaving, pythonVariable } from '../../machine/python/having.js'
import { createModel } from '../../model/index.js'
import { AttachedServer } from './attached-server.js'
import { servedCaps } from './caps.js'
import { ServedEngine } from './engine.js'
import { type ServedContext, type ServerKind, serversOf } from './from-config.js'
import type { OwnedServer } from './owned-server.js'
import type { ServerPackage } from './python.js'

/** A Python with the package of a server, for tests: the one that TRINITY_…_PYTHON names. */
export function serverTestPython({ module, title }: ServerPackage): { path: string; absent: boolean; note: string } {
  const path = pythonHaving(module)
  const note = path === undefined ? ` (skipped: no Python with ${title}, set ${pythonVariable(module)})` : ''
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
export async function startServer(
  kind: ServerKind,
  keys: Record<string, unknown> = {},
  context: ServedContext = {},
): Promise<TestServer> {
  const { title } = kind.package
  const dir = await mkdtemp(join(tmpdir(), 'trinity-served-'))
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
      'explorer.rollout_model.engine_type': kind.engine,
      'explorer.rollout_model.dtype': 'float32',
      'explorer.rollout_model.enforce_eager': true,
      // of the machine's memory: the default is a GPU's share
      'explorer.rollout_model.gpu_memory_utilization': 0.1,
      ...keys,
    },
    { hasPackage: () => true },
  )
  const sources = serversOf(config, { logs: testLogs(), ...context }, kind)
  const [server] = (await sources({ path, maxModelLen: 256 })) as OwnedServer[]
  const { url: baseUrl } = await server.open(new AbortController().signal)
  const newApi = (url: string) => kind.newApi(url, undefined)
  return {
    baseUrl,
    path,
    server,
    engine: () =>
      new ServedEngine({
        name: kind.engine,
        title,
        caps: servedCaps,
        sources: async () => [new AttachedServer({ title, baseUrl, newApi })],
      }),
    close: async () => {
      await server.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
