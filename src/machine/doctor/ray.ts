import { ADDRESS_VARIABLES, DASHBOARD, parseRayAddress } from '../ray/address.js'
import type { Check } from './check.js'
import type { Host } from './host.js'

const TIMEOUT_MS = 1500

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

export async function checkRay(host: Host): Promise<Check> {
  const base = { id: 'ray', section: 'ray', name: 'Ray cluster', required: false } as const
  const name = ADDRESS_VARIABLES.find((variable) => host.env[variable]?.trim())
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
  const fix = 'none is needed on one machine; docs/cluster.md says what it is for'
  return { ...base, status: 'missing', found: `nothing answers at ${where}`, fix, data }
}
