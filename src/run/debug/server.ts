import { chmod, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { messageOf, TrinityError } from '../../base/error.js'
import { nextCall } from '../../engine/calls.js'
import type { RewardModel, Row, SampleModel } from '../../engine/contract.js'
import { connectModels } from './remote.js'
import { fromWire, type SampleCall, type Served, toWire } from './wire.js'

export interface ModelToServe {
  readonly name: string
  readonly role: 'rollout' | 'auxiliary'
  readonly sampler?: SampleModel
  readonly reward?: RewardModel
}

/** Serves open models on a socket until it is closed. Whoever hangs up stops the sampling. */
export async function serveModels(
  socket: string,
  fingerprint: string,
  models: readonly ModelToServe[],
): Promise<{ close(): Promise<void> }> {
  await removeStale(socket)
  const server = createServer((request, response) => {
    const control = new AbortController()
    response.on('close', () => control.abort(new TrinityError('engine/aborted', 'the caller closed the connection')))
    answer(models, fingerprint, request, control.signal).then(
      (value) => void response.end(toWire(value)),
      (error) => {
        response.statusCode = 500
        const { code, path, hint } = error instanceof TrinityError ? error : { code: 'engine/failed' }
        response.end(toWire({ code, message: messageOf(error), path, hint }))
      },
    )
  })
  server.requestTimeout = 0
  await listen(server, socket)
  if (process.platform !== 'win32') await chmod(socket, 0o600)
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  models: readonly ModelToServe[],
  fingerprint: string,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<unknown> {
  if (request.url === '/models') {
    const described = models.map(({ name, role, sampler, reward }) => ({
      name,
      role,
      kind: sampler ? 'sample' : 'reward',
      info: (sampler ?? reward)!.info,
      version: sampler?.version ?? 0,
    }))
    return { pid: process.pid, fingerprint, models: described } as Served
  }
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  const body = fromWire<SampleCall & { rows: unknown[] }>(text)
  const call = nextCall(signal, body.deadlineMs)
  const model = models[body.model]
  if (request.url === '/sample' && model?.sampler) return model.sampler.sample(body.request, call)
  if (request.url === '/score' && model?.sampler) return model.sampler.score(body.rows as Row[], call)
  if (request.url === '/reward' && model?.reward) return model.reward.reward(body.rows as Int32Array[], call)
  throw new TrinityError('engine/unsupported', `model ${body.model} does not answer ${request.url}`)
}

/** A socket that a killed server left behind is removed; one that answers is in use. */
async function removeStale(socket: string): Promise<void> {
  const running = await connectModels(socket)
  if (running) {
    throw new TrinityError('cli/debug', `these models are already served by process ${running.served.pid}`, {
      path: socket,
      hint: 'stop that one first (Ctrl-C), or use it: trinity debug --module workflow',
    })
  }
  if (process.platform !== 'win32') await rm(socket, { force: true })
}

function listen(server: Server, socket: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(socket, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
