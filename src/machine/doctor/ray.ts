import type { Check } from './check.js'
import type { Host } from './host.js'

const TIMEOUT_MS = 1500
const DASHBOARD = 'http://127.0.0.1:8265'

export type RayAddress =
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  /** `auto` and `local`: no fixed place. */
  | { readonly kind: 'anywhere' }

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

/** The body of the dashboard's /api/version. */
export function parseRayVersion(body: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(body)
    const version = answer && typeof answer === 'object' && 'ray_version' in answer ? answer.ray_version : undefined
    return typeof version === 'string' ? version : undefined
  } catch {
    return undefined
  }
}

/** Jobs go to the dashboard, so the variable that names it goes before the cluster's own. */
export async function checkRay(host: Host): Promise<Check> {
  const base = { id: 'ray', section: 'ray', name: 'Ray cluster', required: false } as const
  const name = ['RAY_API_SERVER_ADDRESS', 'RAY_ADDRESS'].find((variable) => host.env[variable]?.trim())
  const address = name ? parseRayAddress(host.env[name] ?? '') : undefined
  if (name && !address) {
    const fix = `set ${name} to an address that Ray accepts: http://host:8265, ray://host:10001 or host:6379`
    return { ...base, status: 'wrong', found: `${name} is not an address`, fix }
  }
  const where =
    address?.kind === 'tcp' ? `${address.host}:${address.port}` : address?.kind === 'http' ? address.url : DASHBOARD
  const data = { address: where, source: address && address.kind !== 'anywhere' ? (name ?? null) : null }
  if (address?.kind === 'tcp') {
    if (await host.reaches(address.host, address.port, TIMEOUT_MS)) {
      return { ...base, status: 'ok', found: `${where} accepts connections`, data }
    }
  } else {
    const answer = await host.get(`${where}/api/version`, TIMEOUT_MS)
    const version = answer ? parseRayVersion(answer.body) : undefined
    if (version) return { ...base, status: 'ok', found: `Ray ${version} at ${where}`, data: { ...data, version } }
    if (answer) {
      const fix = 'something else listens there; give the address of the Ray dashboard'
      return { ...base, status: 'wrong', found: `${where} is not a Ray dashboard (status ${answer.status})`, fix, data }
    }
  }
  if (data.source) {
    const fix = `start Ray there (ray start --head), or correct or unset ${name}`
    return { ...base, status: 'wrong', found: `nothing answers at ${where}`, fix, data }
  }
  const fix = 'none is needed: no engine of this version uses one'
  return { ...base, status: 'missing', found: `nothing answers at ${where}`, fix, data }
}
