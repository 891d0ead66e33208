import { createHash } from 'node:crypto'
import { keysOf } from '../dialect/said.js'
import { joinTurns } from '../dialect/turns.js'
import type { ChatMessage } from '../model/index.js'

/** A conversation up to something that the assistant said. */
export type Prefix = string

/**
 * Whose a conversation is, by what was said in it. Messages are compared as they are recognized elsewhere: clients may
 * rewrite them on their way back.
 */
export class Prefixes<Owner> {
  readonly #owners = new Map<Prefix, Owner[]>()

  /** The owner of the longest known beginning. Where several share it, they take turns: one of them asked, and the texts are the same. */
  find(messages: readonly ChatMessage[]): Owner | undefined {
    for (const prefix of prefixesOf(messages).reverse()) {
      const owners = this.#owners.get(prefix)
      if (!owners) continue
      const [next] = owners
      owners.push(...owners.splice(0, 1))
      return next
    }
    return undefined
  }

  /** Notes whose a whole conversation is. Returns what `forget` takes. */
  add(messages: readonly ChatMessage[], owner: Owner): Prefix | undefined {
    const prefix = prefixesOf(messages).at(-1)
    if (prefix === undefined) return undefined
    const owners = this.#owners.get(prefix)
    if (owners) owners.push(owner)
    else this.#owners.set(prefix, [owner])
    return prefix
  }

  forget(prefix: Prefix, owner: Owner): void {
    const owners = this.#owners.get(prefix)
    const at = owners?.indexOf(owner) ?? -1
    if (!owners || at < 0) return
    owners.splice(at, 1)
    if (owners.length === 0) this.#owners.delete(prefix)
  }

  get size(): number {
    return this.#owners.size
  }
}

/** One for each thing that the assistant said, each a hash over the one before it and what came since. */
function prefixesOf(messages: readonly ChatMessage[]): Prefix[] {
  const prefixes: Prefix[] = []
  let since: string[] = []
  for (const message of joinTurns(messages)) {
    since.push(message.role, keysOf(message).at(-1)!)
    if (message.role !== 'assistant') continue
    const text = JSON.stringify([prefixes.at(-1) ?? '', ...since])
    prefixes.push(createHash('sha256').update(text).digest('base64'))
    since = []
  }
  return prefixes
}
