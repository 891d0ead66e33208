import type { Check } from './check.js'

/** The release lines every change is tried on. */
const SUPPORTED_NODE = [20, 22, 24, 26] as const

export function checkNode(version: string): Check {
  const major = Number(/^v?(\d+)\./.exec(version)?.[1])
  const base = { id: 'node', section: 'runtime', name: 'Node', required: true, data: { version } } as const
  if (SUPPORTED_NODE.some((known) => known === major)) return { ...base, status: 'ok', found: version }
  const lines = SUPPORTED_NODE.join(', ')
  if (!(major >= SUPPORTED_NODE[0])) {
    return { ...base, status: 'wrong', found: `${version} is too old`, fix: `install Node ${lines}` }
  }
  const found = `${version} is not one of the tested release lines`
  return { ...base, status: 'warning', found, fix: `use Node ${lines} if something fails` }
}
