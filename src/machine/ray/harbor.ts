import { randomBytes } from 'node:crypto'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { tokenCheck } from '../../base/secret/token-check.js'
import { newIdentity } from './certificate.js'
import { firstLine } from './first-line.js'

const HELLO_MS = 10_000
/** Strangers at one time. */
const WAITING = 64

/** What a keeper needs to come here: where it is, what shows that it is us, and what shows that it is ours. */
export interface HarborAddress {
  readonly host: string
  readonly port: number
  readonly certificate: string
  readonly token: string
}

/** A worker elsewhere that is expected. */
export interface Expected {
  /** Its keeper has come; what follows are lines. */
  control(socket: TLSSocket): void
  /** The worker itself has come, through its keeper. */
  data(socket: TLSSocket): void
  /** The worker wants to reach another one. */
  peer?(socket: TLSSocket): void
  /** Its keeper has come back with a connection that was asked for. */
  dialed?(socket: TLSSocket, ticket: unknown): void
}

/**
 * Where keepers of workers on other machines find Trinity: one port, TLS with a certificate that was made for this run
 * and that keepers are told beforehand, and a token for each worker. Whoever else comes is turned away after a small
 * number of bytes.
 */
export class Harbor {
  readonly #server: Server
  readonly #host: string
  readonly #certificate: string
  readonly #expected = new Map<string, Expected & { readonly isRight: (token: unknown) => boolean }>()
  readonly #sockets = new Set<TLSSocket>()
  #strangers = 0

  private constructor(server: Server, host: string, certificate: string) {
    this.#server = server
    this.#host = host
    this.#certificate = certificate
    server.on('error', () => {})
    server.on('tlsClientError', (_, socket) => socket.destroy())
    server.on('secureConnection', (socket) => this.#admit(socket))
    server.unref()
  }

  /** At an address of this machine that the others reach. */
  static async open(host: string): Promise<Harbor> {
    const { key, certificate } = newIdentity()
    const server = createServer({ key, cert: certificate, minVersion: 'TLSv1.3', handshakeTimeout: HELLO_MS })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, host, () => {
        server.off('error', reject)
        resolve()
      })
    })
    return new Harbor(server, host, certificate)
  }

  /** What the keeper of this worker is to be told. */
  expect(worker: string, expected: Expected): HarborAddress {
    const token = randomBytes(32).toString('hex')
    this.#expected.set(worker, { ...expected, isRight: tokenCheck(token) })
    const { port } = this.#server.address() as { port: number }
    return { host: this.#host, port, certificate: this.#certificate, token }
  }

  forget(worker: string): void {
    this.#expected.delete(worker)
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #admit(socket: TLSSocket): void {
    socket.on('error', () => {})
    socket.setNoDelay(true)
    socket.unref()
    if (this.#strangers >= WAITING) return void socket.destroy()
    this.#strangers++
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    const timer = setTimeout(() => socket.destroy(), HELLO_MS).unref()
    void firstLine(socket).then((line) => {
      clearTimeout(timer)
      this.#strangers--
      const { token, worker, role, ticket } = line ?? {}
      const expected = typeof worker === 'string' ? this.#expected.get(worker) : undefined
      if (!expected?.isRight(token)) return void socket.destroy()
      if (role === 'control') expected.control(socket)
      else if (role === 'data') expected.data(socket)
      else if (role === 'peer' && expected.peer) expected.peer(socket)
      else if (role === 'dialed' && expected.dialed) expected.dialed(socket, ticket)
      else socket.destroy()
    })
  }
}
