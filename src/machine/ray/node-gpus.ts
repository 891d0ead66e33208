import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { pythonHaving } from '../python/having.js'
import { parseRayAddress } from './address.js'
import { currentClusterFile } from './running.js'

const ASK_MS = 60_000
const SCRIPT = [
  'import json, sys, ray',
  'ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")',
  'print("\\n" + json.dumps([node["Resources"].get("GPU", 0) for node in ray.nodes() if node["Alive"]]))',
].join('\n')

type Env = Readonly<Record<string, string | undefined>>

/** Where to ask; undefined: no cluster is meant, as far as can be told without asking. */
export function askedCluster(given: string, env: Env): string | undefined {
  for (const text of [given.trim(), env.RAY_ADDRESS?.trim()]) {
    if (!text || text === 'auto') continue
    if (text === 'local') return undefined
    if (parseRayAddress(text)?.kind === 'tcp') return text
  }
  return existsSync(currentClusterFile(env)) ? 'auto' : undefined
}

const known = new Map<string, readonly number[] | undefined>()

/**
 * GPUs of each node of the cluster that an address means; undefined: there is none, or it does not answer, which the run
 * says when it wants to use it. Asked once: a Python takes seconds.
 */
export function nodeGpus(given: string, env: Env = process.env): readonly number[] | undefined {
  const address = askedCluster(given, env)
  const python = address === undefined ? undefined : pythonHaving('ray')
  if (address === undefined || python === undefined) return undefined
  if (!known.has(address)) known.set(address, ask(python, address))
  return known.get(address)
}

function ask(python: string, address: string): readonly number[] | undefined {
  try {
    const options = { stdio: ['ignore', 'pipe', 'ignore'] as ['ignore', 'pipe', 'ignore'], timeout: ASK_MS }
    const lines = execFileSync(python, ['-c', SCRIPT, address], options).toString().trim().split('\n')
    return JSON.parse(lines.at(-1) ?? '')
  } catch {
    return undefined
  }
}
