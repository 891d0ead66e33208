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
