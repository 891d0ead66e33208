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

/** What `ray start` has left on this machine, where that still runs. */
async function started(env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  const file = join(env.RAY_TMPDIR ?? env.TMPDIR ?? '/tmp', 'ray', 'ray_current_cluster')
  const text = (await readFile(file, 'utf8').catch(() => '')).trim()
  const address = text === '' ? undefined : parseRayAddress(text)
  return address?.kind === 'tcp' && (await reaches(address.host, address.port)) ? text : undefined
}
