import { relative } from 'node:path'
import { PACKAGE_ROOT } from '../../base/package-root.js'
import { type AddonFile, addonHint, findAddon, findWasm } from '../addon-file.js'
import type { Check } from './check.js'
import type { Host } from './host.js'

/** In a child process: an addon built for another processor or another libc can kill the process that loads it. */
const LOAD = 'require(require("node:path").resolve(process.argv[1]))'

export async function checkAddon(host: Host, root: string = PACKAGE_ROOT): Promise<Check> {
  const base = { id: 'addon', section: 'runtime', name: 'native addon', required: true } as const
  const fix = addonHint(host.env)
  const addon = findAddon(host.env, root)
  if (addon.path === undefined) {
    return { ...base, status: 'missing', found: `not built, and ${addon.missing}`, fix, data: { path: null } }
  }
  const why = await whyNot(host, addon)
  const path = relative(root, addon.path)
  const data = { path, origin: addon.origin }
  if (why === undefined && addon.origin === 'wasm') {
    return { ...base, status: 'warning', found: slow(`${addon.instead}`), fix, data }
  }
  if (why === undefined) return { ...base, status: 'ok', found: `loads (${path})`, data }
  const found = `does not load: ${why}`
  const wasm = addon.origin === 'package' ? findWasm(found, root) : undefined
  if (wasm?.path && (await whyNot(host, wasm)) === undefined) {
    const rest = { path: relative(root, wasm.path), origin: wasm.origin }
    return { ...base, status: 'warning', found: slow(`${path} ${found}`), fix, data: rest }
  }
  return { ...base, status: 'wrong', found, fix, data }
}

function slow(why: string): string {
  return `WebAssembly, several times slower than a compiled one: ${why}`
}

/** Why it does not load, if it does not. */
async function whyNot(host: Host, { path }: Extract<AddonFile, { path: string }>): Promise<string | undefined> {
  const answer = await host.exec(process.execPath, ['-e', LOAD, path], { timeoutMs: 10_000 })
  return answer.status === 'ok' ? undefined : (reason(answer.stderr) ?? answer.status)
}

function reason(stderr: string): string | undefined {
  return /^(?:Error: )(.*)$/m.exec(stderr)?.[1].slice(0, 200)
}
