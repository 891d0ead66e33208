import { request as httpRequest } from 'node:http'
import { TrinityError } from '../../base/error.js'
import type { Call, RewardModel, Row, SampleModel, SampleRequest } from '../../engine/contract.js'
import { remoteReward, remoteSampler } from '../../engine/remote.js'
import { fromWire, type SampleAnswer, type ScoreAnswer, type Served, type ServedModel, toWire } from './wire.js'

export interface Connection {
  readonly served: Served
  sampler(index: number): SampleModel
  reward(index: number): RewardModel
}

const GONE = 'engine/server-gone'

/** The models behind a socket; undefined when nobody serves there. */
export async function connectModels(socket: string): Promise<Connection | undefined> {
  let served: Served
  try {
    served = await post<Served>(socket, '/models', undefined)
  } catch (error) {
    if (error instanceof TrinityError && error.code === GONE) return undefined
    throw error
  }
  return {
    served,
    sampler: (index) => samplerAt(socket, index, served.models[index]),
    reward: (index) => rewardAt(socket, index, served.models[index]),
  }
}

function samplerAt(socket: string, model: number, { info, version }: ServedModel): SampleModel {
  return remoteSampler(info, {
    version,
    async sample(request: SampleRequest, call: Call, onToken) {
      const samples = await post<SampleAnswer>(socket, '/sample', { model, request, deadlineMs: call.deadlineMs }, call)
      for (const [index, { tokens, logprobs }] of samples.entries()) {
        for (let i = 0; i < tokens.length; i++) onToken?.(index, tokens[i], logprobs[i])
      }
      return [...samples]
    },
    score: async (rows: readonly Row[], call) => [
      ...(await post<ScoreAnswer>(socket, '/score', { model, rows, deadlineMs: call.deadlineMs }, call)),
    ],
  })
}

function rewardAt(socket: string, model: number, { info }: ServedModel): RewardModel {
  return remoteReward(info, (rows, call) =>
    post<Float32Array>(socket, '/reward', { model, rows, deadlineMs: call.deadlineMs }, call),
  )
}

function post<T>(socketPath: string, path: string, body: unknown, call?: Pick<Call, 'signal'>): Promise<T> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    // a connection of its own: one that was kept may lead to a server that has ended since
    const options = { socketPath, path, method, signal: call?.signal, agent: false }
    const fail = (error: NodeJS.ErrnoException) => reject(isGone(error) ? gone(socketPath, error) : error)
    const request = httpRequest(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', fail)
      response.on('end', () => {
        const value = fromWire<T>(text)
        if (response.statusCode === 200) return resolve(value)
        const { code, message, path, hint } = value as { code: string; message: string; path?: string; hint?: string }
        reject(new TrinityError(code, message, { path, hint }))
      })
    })
    request.on('error', fail)
    request.end(body === undefined ? undefined : toWire(body))
  })
}

function isGone({ code = '' }: NodeJS.ErrnoException): boolean {
  return ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code)
}

function gone(socket: string, cause: unknown): TrinityError {
  return new TrinityError(GONE, 'the debug server has ended', {
    path: socket,
    hint: 'start it again: trinity debug --module inference_model',
    cause,
  })
}
