import { createHash } from 'node:crypto'
import { TrinityError } from '../error.js'

export function isDatabaseUrl(path: string): boolean {
  return /^(sqlite|postgres(ql)?|mysql)(\+\w+)?:/i.test(path)
}

/** `sqlite:///x.db` is relative, `sqlite:////x.db` absolute, as SQLAlchemy has it. */
export function sqlitePath(url: string): string {
  const path = url.replace(/^sqlite(\+\w+)?:(\/\/\/?)?/i, '')
  if (path === '') throw new TrinityError('database/url', `'${url}' names no file`, { path: url })
  return path
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Bytes that may follow the name of a table in the names of what belongs to it. */
const SUFFIX = '_version'.length
const HASH = 9

/** The name under which a table is kept: one that is too long ends in a hash of the whole. */
export function storedName(name: string, longest = Number.POSITIVE_INFINITY): string {
  const bytes = Buffer.from(name)
  if (bytes.length <= longest - SUFFIX) return name
  let end = longest - SUFFIX - HASH
  // not in the middle of a character
  while ((bytes[end] & 0xc0) === 0x80) end--
  return `${bytes.subarray(0, end)}_${createHash('sha256')
    .update(name)
    .digest('hex')
    .slice(0, HASH - 1)}`
}
