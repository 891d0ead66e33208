import type { Clock } from './clock.js'
import { isAlive, type Peer } from './peers.js'
import { isOver } from './status.js'

/** A wait for somebody who shows no life is told of soon, one for somebody at work only when it is long. */
const TELL_MS = { nobody: 10_000, somebody: 60_000 }

/** Says of one wait what is waited for and what the others are doing; again only when somebody comes or goes. */
export class WaitNote {
  readonly #clock: Clock
  readonly #note: (text: string) => void
  readonly #role: string
  readonly #begun: number
  #said: boolean | undefined

  constructor(clock: Clock, note: (text: string) => void, role: string) {
    this.#clock = clock
    this.#note = note
    this.#role = role
    this.#begun = clock.now()
  }

  look(reason: string, peers: readonly Peer[]): void {
    const alive = peers.some(isAlive)
    const waited = this.#clock.now() - this.#begun
    if (this.#said === alive || waited < (alive ? TELL_MS.somebody : TELL_MS.nobody)) return
    this.#said = alive
    const others = peers.length === 0 ? `no ${this.#role} has started yet` : peers.map(doing).join('; ')
    this.#note(`${reason} (for ${Math.round(waited / 1000)} s); ${others}`)
  }
}

/** What a peer does, for people. */
function doing(peer: Peer): string {
  const { role, name, state, step, waits_for } = peer.status
  const who = role === name ? `the ${role}` : `${role} '${name}'`
  if (isOver(peer.status)) return `${who} has ${state}`
  if (!peer.lived) return `${who} has not reported yet`
  if (!isAlive(peer)) return `${who} has been silent for ${Math.round(peer.silentMs / 1000)} s: was it killed?`
  return waits_for === undefined ? `${who} is at work after step ${step}` : `${who}: ${waits_for}`
}
