import { TrinityError } from '../error.js'

/** The address of a server, with everything below which its routes are. */
export function parseBaseUrl(text: string, code: string): URL {
  const given = text.trim()
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url && /^https?:$/.test(url.protocol)) return url
  const meant = `http://${given}`
  const hint = /^[\w.-]+(:\d+)?(\/|$)/.test(given) ? `write ${meant}` : 'write it like http://localhost:8000/v1'
  throw new TrinityError(`${code}/address`, `'${given}' is no http address`, { path: given, hint })
}

/**
 * A route of a server. A query of the base, such as a version, goes with every route. What is put into a route never
 * leaves what is below the base.
 */
export function joinUrl(base: URL, route: string): URL {
  const [path, query = ''] = route.split('?', 2)
  const root = base.pathname.replace(/\/+$/, '')
  const url = new URL(base)
  url.pathname = `${root}/${path.replace(/^\/+/, '')}`
  url.hash = ''
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.append(name, value)
  if (url.pathname !== root && !url.pathname.startsWith(`${root}/`)) {
    throw new TrinityError('http/route', `the route ${route} leaves ${base.origin}${base.pathname}`, {
      hint: 'encode what is put into a route: encodeURIComponent',
    })
  }
  return url
}

/** As it may be shown: without user, password and query. */
export function shownUrl({ origin, pathname }: URL): string {
  return origin + pathname
}
