import { relative } from 'node:path'
import { ADDON_HINT, findAddon, PACKAGE_ROOT } from '../addon-file.js'
import type { Check } from './check.js'
import type { Host } from './host.js'

/** In a child process: an addon built for another processor or another libc can kill the process that loads it. */
const LOAD = 'require(require("node:path").resolve(process.argv[1]))'

export async function checkAddon(host: Host, root: string = PACKAGE_ROOT): Promise<Check> {
  const base = { id: 'addon', section: 'runtime', name: 'native addon', required: true } as const
  const fix = ADDON_HINT
  const addon = findAddon(host.env, root)
  if (addon.path === undefined) {
    return { ...base, status: 'missing', found: `not built, and ${addon.missing}`, fix, data: { path: null } }
  }
  const path = relative(root, addon.path)
  const answer = await host.exec(process.execPath, ['-e', LOAD, addon.path], { timeoutMs: 10_000 })
  if (answer.status === 'ok') {
    return { ...base, status: 'ok', found: `loads (${path})`, data: { path, origin: addon.origin } }
  }
  const found = `does not load: ${reason(answer.stderr) ?? answer.status}`
  return { ...base, status: 'wrong', found, fix, data: { path, origin: addon.origin } }
}

function reason(stderr: string): string | undefined {
  return /^(?:Error: )(.*)$/m.exec(stderr)?.[1].slice(0, 200)
}
