import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { checkRequest } from '../checked-request.js'
import type { SampleRequest, SamplingParams } from '../contract.js'
import type { ServedRequest } from './server-api.js'

export type Answer = [status: number, body: unknown]

/** A server that says what it is told to, and keeps what it was asked. A text is a stream of events. */
export class Answers {
  readonly asked: { route: string; body: Record<string, unknown> }[] = []
  #server: Server | undefined

  /** Gives its address. */
  async open(answer: (route: string, body: Record<string, unknown>) => Answer): Promise<string> {
    const server = createServer(async (request, response) => {
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString() || '{}') as Record<string, unknown>
      const route = request.url ?? ''
      this.asked.push({ route, body })
      const [status, said] = answer(route, body)
      const events = typeof said === 'string'
      response.writeHead(status, { 'content-type': events ? 'text/event-stream' : 'application/json' })
      response.end(events ? said : JSON.stringify(said))
    })
    this.#server = server
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server?.close()
    this.asked.length = 0
  }
}

/** A request for two tokens behind two others; token 2 ends an answer. */
export function servedRequest(
  params: Partial<SamplingParams> = {},
  more: Partial<ServedRequest> = {},
  asked: Partial<SampleRequest> = {},
): ServedRequest {
  const prompt = Int32Array.of(1, 320)
  const info = { architecture: 'x', parameters: 0, trainableParameters: 0, vocabSize: 6400, maxModelLen: 64 }
  const wish = checkRequest(
    { prompt, n: 1, params: { temperature: 0.5, maxTokens: 2, ...params }, ...asked },
    { info: { ...info, endTokens: [2] }, cacheTokens: 64, seed: { low: 0, high: 0 } },
  )
  return { id: 'abc', prompt, n: 1, seed: 5, stop: [], promptLogprobs: false, wish, ...more }
}
