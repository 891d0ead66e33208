import { randomBytes } from 'node:crypto'

/** An id that nothing else in this process or another has: clients replace messages that share one. */
export function newId(prefix: string): string {
  return prefix + randomBytes(12).toString('hex')
}

/** The part of such an id behind its prefix, for the ids of what belongs to it. */
export function ownPart(id: string): string {
  return id.replace(/^[a-z]+[-_]/, '')
}
