import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy whose connections can die as behind a firewall that forgets them: bytes vanish, and neither end is told. */
export class SilentProxy {
  readonly #server: Server
  readonly #pairs = new Set<{ client: Socket; upstream: Socket; lost: 'all' | 'answers' | undefined }>()

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const pair = { client, upstream: connect(port, '127.0.0.1'), lost: undefined as 'all' | 'answers' | undefined }
      this.#pairs.add(pair)
      client.on('data', (bytes) => pair.lost !== 'all' && pair.upstream.write(bytes))
      pair.upstream.on('data', (bytes) => pair.lost === undefined && client.write(bytes))
      for (const [one, other] of [
        [client, pair.upstream],
        [pair.upstream, client],
      ]) {
        one.on('error', () => {})
        one.on('close', () => pair.lost === undefined && other.destroy())
      }
    })
  }

  /** Opens a proxy to a port of this machine. */
  static async to(port: number): Promise<SilentProxy> {
    const proxy = new SilentProxy(port)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  /** Returns the URL of a server, led through the proxy. */
  through(url: string): string {
    const led = new URL(url)
    led.port = String((this.#server.address() as AddressInfo).port)
    return String(led)
  }

  /** Drops the bytes of all connections that are open now, or the answers alone. New connections work. */
  silence(lost: 'all' | 'answers' = 'all'): void {
    for (const pair of this.#pairs) pair.lost ??= lost
  }

  async close(): Promise<void> {
    for (const { client, upstream } of this.#pairs) {
      client.destroy()
      upstream.destroy()
    }
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
