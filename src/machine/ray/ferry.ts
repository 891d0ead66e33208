import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'

/** Whoever can connect to a port of a node and come back with it. */
export interface Pier {
  readonly exited: Promise<unknown>
  /** It comes back with the ticket. `waits`: nobody may listen there yet. */
  dial(port: number, ticket: string, waits: boolean): void
}

/** Brings connections to ports of nodes that only keepers there reach. */
export class Ferry {
  readonly #waiting = new Map<string, Duplex>()

  bring(stream: Duplex, { exited, dial }: Pier, port: number, waits: boolean): void {
    const ticket = randomBytes(16).toString('hex')
    this.#waiting.set(ticket, stream)
    stream.once('close', () => this.#waiting.delete(ticket))
    void exited.then(() => stream.destroy())
    dial(port, ticket, waits)
  }

  /** A keeper has come back with a connection of its node. */
  take(ticket: unknown, far: Duplex): void {
    const stream = typeof ticket === 'string' ? this.#waiting.get(ticket) : undefined
    if (!stream) return void far.destroy()
    this.#waiting.delete(ticket as string)
    joined(stream, far)
  }
}

/** What one says, the other hears; they end together. */
export function joined(one: Duplex, other: Duplex): void {
  for (const [a, b] of [
    [one, other],
    [other, one],
  ]) {
    a.on('error', () => b.destroy())
    a.on('close', () => b.destroy())
    a.pipe(b)
  }
}
