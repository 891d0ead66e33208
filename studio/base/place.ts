import { computed, signal } from '@preact/signals'

/**
 * Where the person is: the part of the address behind `#`. Every view, filter and zoom is in it, so that a reload, a
 * bookmark or a link in a chat shows the same.
 */
export interface Place {
  /** `['runs', id, 'charts']` */
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

export function readPlace(hash: string): Place {
  const [path, query] = hash.replace(/^#?\/?/, '').split('?', 2)
  return {
    path: path.split('/').filter(Boolean).map(decode),
    query: Object.fromEntries(new URLSearchParams(query ?? '')),
  }
}

export function writePlace({ path, query }: Place): string {
  const filled = Object.entries(query).filter(([, value]) => value !== '')
  const tail = filled.length === 0 ? '' : `?${new URLSearchParams(filled)}`
  return `#/${path.map(encodeURIComponent).join('/')}${tail}`
}

/** A link that somebody cut in the middle of an escape still opens. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const place = signal<Place>({ path: [], query: {} })
export const query = computed(() => place.value.query)

/** Follows the address bar, and begins with what it says. */
export function followAddress(): void {
  const read = () => {
    place.value = readPlace(location.hash)
  }
  addEventListener('hashchange', read)
  addEventListener('popstate', read)
  read()
}

export const linkTo = (path: readonly string[], query: Record<string, string> = {}) => writePlace({ path, query })

export function go(path: readonly string[], query: Record<string, string> = {}): void {
  location.hash = writePlace({ path, query })
}

/** Changes the query without an entry in the history: typing into a filter is no journey. '' removes a key. */
export function setQuery(change: Record<string, string>): void {
  const next = { path: place.value.path, query: { ...place.value.query, ...change } }
  for (const [key, value] of Object.entries(next.query)) if (value === '') delete next.query[key]
  history.replaceState(null, '', writePlace(next))
  place.value = next
}

/** A number from the query; undefined where it is missing or none. */
export function numberOf(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) ? value : undefined
}
