import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { freePort } from '../../machine/ground/free-port.js'
import { createModel } from '../../model/index.js'

/** A Python 3.12 with SkyRL's Tinker server and `uv` beside it, for tests: TRINITY_TINKER_PYTHON. */
export function tinkerTestPython(): { path: string; absent: boolean; note: string } {
  const path = process.env.TRINITY_TINKER_PYTHON ?? ''
  const absent = !existsSync(join(dirname(path), 'uv'))
  const note = absent ? ' (skipped: no Python with skyrl[tinker,jax] and uv, set TRINITY_TINKER_PYTHON)' : ''
  return { path, absent, note }
}

export interface TinkerServer {
  readonly url: string
  /** The model that it serves, by this name. */
  readonly model: string
  close(): Promise<void>
}

const START_MS = 300_000

/** The real server on the processor, with a small model. TRINITY_TEST_LOG: a file that gets what it says. */
export async function startTinkerServer(python: string): Promise<TinkerServer> {
  const dir = await mkdtemp(join(tmpdir(), 'trinity-tinker-'))
  const model = join(dir, 'model')
  await createModel({
    out: model,
    layers: 2,
    hidden: 32,
    heads: 2,
    maxPositions: 64,
    tokenizer: { kind: 'bytes' },
    seed: 3,
  })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const backend = { max_lora_adapters: 6, max_lora_rank: 8, sample_max_num_sequences: 8, train_micro_batch_size: 8 }
  const args = [
    ...['run', '--no-project', '--active', '-m', 'skyrl.tinker.api', '--base-model', model, '--backend', 'jax'],
    ...['--backend-config', JSON.stringify(backend), '--database-url', `sqlite:///${dir}/tinker.db`],
    ...['--checkpoints-base', join(dir, 'checkpoints'), '--host', '127.0.0.1', '--port', String(port)],
  ]
  const offline = { JAX_PLATFORMS: 'cpu', HF_HUB_OFFLINE: '1', UV_OFFLINE: '1', UV_NO_SYNC: '1' }
  const env = {
    ...process.env,
    ...offline,
    UV_PYTHON_DOWNLOADS: 'never',
    VIRTUAL_ENV: dirname(dirname(python)),
    PATH: dirname(python) + delimiter + process.env.PATH,
  }
  // a group of its own: the server starts processes of its own, which must end with it
  const server = spawn('uv', args, { cwd: dir, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const log = process.env.TRINITY_TEST_LOG
  const file = log ? createWriteStream(log, { flags: 'a' }) : undefined
  for (const stream of [server.stdout, server.stderr]) stream?.on('data', (text) => file?.write(text))
  const close = async () => {
    await ended(server)
    await rm(dir, { recursive: true, force: true })
  }
  try {
    await ready(server, `${url}/api/v1/healthz`)
  } catch (error) {
    await close()
    throw error
  }
  return { url, model, close }
}

async function ready(server: ChildProcess, health: string): Promise<void> {
  const end = performance.now() + START_MS
  while (performance.now() < end) {
    if (server.exitCode !== null)
      throw new Error(`the Tinker server ended with ${server.exitCode}; set TRINITY_TEST_LOG`)
    if (
      await fetch(health).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error('the Tinker server did not start')
}

async function ended(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.pid === undefined) return
  const gone = new Promise((resolve) => server.once('exit', resolve))
  process.kill(-server.pid, 'SIGKILL')
  await gone
}
