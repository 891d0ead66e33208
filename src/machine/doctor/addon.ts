import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Check } from './check.js'
import type { Host } from './host.js'

/** The folder that holds package.json: the same from src/ and from dist/. */
export const PACKAGE_ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Where the build puts it. */
export function addonPath(root: string = PACKAGE_ROOT): string {
  return join(root, 'native', 'build', 'trinity.node')
}

/** In a child process: an addon built for another processor or another libc can kill the process that loads it. */
const LOAD = 'require(process.argv[1])'

export async function checkAddon(host: Host, root: string = PACKAGE_ROOT): Promise<Check> {
  const base = { id: 'addon', section: 'runtime', name: 'native addon', required: true } as const
  const fix = 'npm rebuild trinity-rft (in a checkout: npm run build:native)'
  const addon = addonPath(root)
  if (!existsSync(addon)) return { ...base, status: 'missing', found: 'not built', fix, data: { path: null } }
  const path = relative(root, addon)
  const answer = await host.exec(process.execPath, ['-e', LOAD, addon], { timeoutMs: 10_000 })
  if (answer.status === 'ok') return { ...base, status: 'ok', found: `loads (${path})`, data: { path } }
  const found = `does not load: ${reason(answer.stderr) ?? answer.status}`
  return { ...base, status: 'wrong', found, fix, data: { path } }
}

function reason(stderr: string): string | undefined {
  return /^(?:Error: )(.*)$/m.exec(stderr)?.[1].slice(0, 200)
}
