import type { ServerResponse } from 'node:http'

/**
 * Whether all of a response went out. Node's own words do not tell: a response whose socket was destroyed counts as
 * finished, and one that was sent as destroyed.
 */
export class Delivery {
  readonly #response: ServerResponse
  #over: boolean
  #sent = false

  constructor(response: ServerResponse) {
    // Of the request: a response has none while it waits for another one on the same connection.
    const { socket } = response.req
    this.#response = response
    this.#over = response.destroyed
    response.once('finish', () => {
      this.#over = true
      this.#sent = !socket.destroyed
    })
    response.once('close', () => {
      this.#over = true
    })
  }

  /** All of it went out. */
  get isSent(): boolean {
    return this.#sent
  }

  /** Of a response that has ended. A client that takes nothing of it for `ms` is cut. */
  async sent(ms: number): Promise<boolean> {
    const response = this.#response
    if (!this.#over) {
      response.req.socket.setTimeout(ms)
      await new Promise<void>((resolve) => {
        response.once('finish', resolve).once('close', resolve)
      })
    }
    return this.#sent
  }
}
