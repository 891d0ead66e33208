import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { reaches } from '../reaches.js'
import { noAddress, parseRayAddress } from './address.js'

/**
 * The cluster that is meant, as Ray takes its address; undefined: none, and this machine does the work alone. `auto` is
 * that of the variable RAY_ADDRESS, which jobs of Ray have, or the one that was started on this machine. The address of a
 * dashboard says where jobs go, and nothing of where their workers run: it is like `auto`.
 */
export async function rayCluster(
  given: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string | undefined> {
  for (const [name, value] of [
    ['cluster.ray_address', given],
    ['RAY_ADDRESS', env.RAY_ADDRESS],
  ]) {
    const text = value?.trim()
    if (!text || text === 'auto') continue
    if (text === 'local') return undefined
    const address = parseRayAddress(text)
    if (!address) throw noAddress(name as string, text)
    if (address.kind === 'tcp') return text
  }
  return started(env)
}

/** Where `ray start` leaves the address of what it started on this machine. */
export function currentClusterFile(env: Readonly<Record<string, string | undefined>>): string {
  return join(env.RAY_TMPDIR ?? env.TMPDIR ?? '/tmp', 'ray', 'ray_current_cluster')
}

/** What `ray start` has left on this machine, where that still runs. */
async function started(env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  const text = (await readFile(currentClusterFile(env), 'utf8').catch(() => '')).trim()
  const address = text === '' ? undefined : parseRayAddress(text)
  return address?.kind === 'tcp' && (await reaches(address.host, address.port)) ? text : undefined
}
