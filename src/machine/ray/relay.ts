import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { firstLine } from './first-line.js'

const GO = Buffer.from('!')

/** Workers that are to meet, and those of them that have come, by their ranks. */
interface Channel {
  readonly members: Map<number, Duplex>
}

/** Carries what one worker says to others that it cannot reach: from rank 0 of a channel to everybody else in it. */
export class Relay {
  readonly #channels = new Map<string, Channel>()

  /** The name of a new channel, which whoever wants to be in it must know. */
  open(): string {
    const name = randomBytes(16).toString('hex')
    this.#channels.set(name, { members: new Map() })
    return name
  }

  /** Somebody has come who says first where he belongs. */
  async take(stream: Duplex): Promise<void> {
    const { channel: name, rank, size } = (await firstLine(stream)) ?? {}
    const channel = typeof name === 'string' ? this.#channels.get(name) : undefined
    if (!channel || typeof rank !== 'number' || typeof size !== 'number' || channel.members.has(rank)) {
      return void stream.destroy()
    }
    channel.members.set(rank, stream)
    // a channel is for members that stay: whoever joins anew does so in another one
    stream.once('close', () => this.#end(name as string))
    if (channel.members.size < size) return
    for (const member of channel.members.values()) member.write(GO)
    const { members } = channel
    const source = members.get(0)
    if (source)
      void carry(
        source,
        [...members.values()].filter((one) => one !== source),
      )
    else this.#end(name as string)
  }

  #end(name: string): void {
    const channel = this.#channels.get(name)
    this.#channels.delete(name)
    for (const member of channel?.members.values() ?? []) member.destroy()
  }
}

/** At the pace of the slowest. */
async function carry(source: Duplex, to: readonly Duplex[]): Promise<void> {
  try {
    for await (const piece of source) {
      const full = to.filter((one) => !one.write(piece))
      await Promise.all(full.map((one) => once(one, 'drain')))
    }
  } catch {
    // somebody has gone: the channel ends with him
  }
}
