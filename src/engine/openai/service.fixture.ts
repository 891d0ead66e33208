import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Asked {
  readonly url: string
  readonly authorization?: string
  readonly body: Record<string, unknown> & { messages?: { role: string; content: string }[] }
}

export type Reply = (response: ServerResponse, asked: Asked) => void

/** A service for tests: a real server that says what it is told to, in turn, the last one again and again. */
export class TestService {
  readonly asked: Asked[] = []
  replies: Reply[] = []
  /** Tells its models. */
  lists = true
  readonly #server = createServer(async (request: IncomingMessage, response) => {
    let text = ''
    for await (const part of request) text += part
    const { url = '', headers } = request
    const asked = { url, authorization: headers.authorization, body: text === '' ? {} : JSON.parse(text) }
    if (this.lists && url.endsWith('/models')) return void response.end('{"data":[{"id":"known"}]}')
    this.asked.push(asked)
    const reply = this.replies.length > 1 ? this.replies.shift() : this.replies[0]
    reply?.(response, asked)
  })

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  close(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}

export const says =
  (...choices: (string | object)[]): Reply =>
  (response) =>
    void response.end(
      JSON.stringify({
        choices: choices.map((one) =>
          typeof one === 'string' ? { message: { content: one }, finish_reason: 'stop' } : one,
        ),
        usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
      }),
    )

export const fails =
  (status: number, body = '', headers = {}): Reply =>
  (response) =>
    void response.writeHead(status, headers).end(body)

/** Events one after the other; `end`: false breaks off. */
export const streams =
  (pieces: (object | string)[], end = true): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const piece of pieces) {
      response.write(`data: ${typeof piece === 'string' ? piece : JSON.stringify(piece)}\n\n`)
    }
    if (end) response.end()
    else setTimeout(() => response.socket?.destroy(), 10)
  }
