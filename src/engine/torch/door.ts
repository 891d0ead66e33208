import { createServer, type Server, type Socket } from 'node:net'
import { tokenCheck } from '../../base/secret/token-check.js'
import { WorkerConnection } from './connection.js'
import type { Frame } from './frames.js'

/** Of a peer that has not shown its token, and of the hello of one that has. */
const STRANGER = { header: 64 * 1024, payload: 0 }
/** A worker shows its token as soon as it is connected, long before it has loaded torch. */
const TOKEN_MS = 10_000
/** Strangers at one time. */
const WAITING = 32

export interface DoorSettings {
  readonly token: string
  readonly graceMs: number
  readonly tokenMs?: number
}

/** A worker of ours, and the frame with which it says that it is ready, or that it is not. */
export interface Guest {
  readonly connection: WorkerConnection
  readonly frame: Frame
}

/**
 * Where a worker finds Trinity: a port of this machine alone, for the first who knows the token. Whoever else comes is
 * turned away: for what it says, or because it says nothing. Only bytes below a small limit are kept of it.
 */
export class Door {
  readonly port: number
  /** Pending until a worker has come and said hello. */
  readonly guest: Promise<Guest>
  readonly #server: Server
  /** The one that has waited longest first. */
  readonly #strangers = new Map<Socket, NodeJS.Timeout>()

  private constructor(server: Server, { token, graceMs, tokenMs = TOKEN_MS }: DoorSettings) {
    this.#server = server
    this.port = (server.address() as { port: number }).port
    const isRight = tokenCheck(token)
    // too many open files, for one: who could not be let in may come again
    server.on('error', () => {})
    this.guest = new Promise((resolve) => {
      server.on('connection', (socket: Socket) => {
        this.#admit(socket, tokenMs)
        const connection = new WorkerConnection(socket, STRANGER, graceMs)
        void connection.unasked().then(async (frame) => {
          if (!this.#strangers.has(socket)) return
          if (!isRight(frame.header.token)) return socket.destroy()
          this.#forget(socket)
          this.close()
          resolve({ connection, frame: frame.header.event === 'token' ? await connection.unasked() : frame })
        })
      })
    })
  }

  static async open(settings: DoorSettings): Promise<Door> {
    const server = createServer()
    await listen(server)
    return new Door(server, settings)
  }

  /** Lets nobody in any more. Strangers that say nothing would keep this process alive. */
  close(): void {
    this.#server.close()
    for (const socket of [...this.#strangers.keys()]) socket.destroy()
  }

  #admit(socket: Socket, tokenMs: number): void {
    // the worker needs a moment only: who makes room has been silent for longer
    if (this.#strangers.size >= WAITING) this.#strangers.keys().next().value?.destroy()
    this.#strangers.set(
      socket,
      setTimeout(() => socket.destroy(), tokenMs),
    )
    socket.once('close', () => this.#forget(socket))
  }

  #forget(socket: Socket): void {
    clearTimeout(this.#strangers.get(socket))
    this.#strangers.delete(socket)
  }
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}
