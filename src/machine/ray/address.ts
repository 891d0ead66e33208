import { TrinityError } from '../../base/error.js'

export type RayAddress =
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  /** `auto` and `local`: no fixed place. */
  | { readonly kind: 'anywhere' }

/** Where the dashboard of a head listens, unless it was told otherwise. */
const DASHBOARD_PORT = 8265
export const DASHBOARD = `http://127.0.0.1:${DASHBOARD_PORT}`

/** The forms Ray itself takes: http://host:8265, ray://host:10001, host:6379, [::1]:6379, auto, local. */
export function parseRayAddress(text: string): RayAddress | undefined {
  const address = text.trim()
  if (address === 'auto' || address === 'local') return { kind: 'anywhere' }
  if (/^https?:\/\/[^/\s]+/.test(address)) {
    return URL.canParse(address) ? { kind: 'http', url: new URL(address).origin } : undefined
  }
  const match = /^(?:ray:\/\/)?(?:\[([0-9a-f:]+)\]|([\w.-]+)):(\d{1,5})\/?$/i.exec(address)
  if (!match || Number(match[3]) > 65_535) return undefined
  return { kind: 'tcp', host: match[1] ?? match[2], port: Number(match[3]) }
}

/** Variables by which Ray's own programs are told where it is. Jobs go to the dashboard: its variable comes first. */
export const ADDRESS_VARIABLES = ['RAY_API_SERVER_ADDRESS', 'RAY_ADDRESS'] as const

/**
 * The dashboard to which jobs go: of the address that is given, of the variables, or of this machine. Of a head that is
 * named by another port, the dashboard is taken to be at its usual one.
 */
export function dashboardOf(given: string, env: Readonly<Record<string, string | undefined>>): string {
  for (const [name, text] of [['cluster.ray_address', given], ...ADDRESS_VARIABLES.map((key) => [key, env[key]])]) {
    if (!text?.trim()) continue
    const address = parseRayAddress(text)
    if (!address) throw noAddress(name as string, text)
    if (address.kind === 'http') return address.url
    if (address.kind === 'tcp') {
      const host = address.host.includes(':') ? `[${address.host}]` : address.host
      return `http://${host}:${DASHBOARD_PORT}`
    }
  }
  return DASHBOARD
}

export function noAddress(name: string, text: string): TrinityError {
  return new TrinityError('ray/address', `${name} is '${text}', which is no address of Ray`, {
    path: name,
    hint: 'use auto, host:6379, ray://host:10001 or the dashboard http://host:8265',
  })
}
