import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Real models and data sets that are not part of the repository. Tests that want them skip when they are absent. */
export function sharedData(path: string): { path: string; absent: boolean; note: string } {
  const full = fileURLToPath(new URL(`../../../shared/data/${path}`, import.meta.url))
  const absent = !existsSync(full)
  return { path: full, absent, note: absent ? ` (skipped: ../shared/data/${path} is not here)` : '' }
}

/** The Python environment that scripts/oracles.sh makes. */
export function oraclePython(): { path: string; absent: boolean; note: string } {
  const path = fileURLToPath(new URL('../../.venv/bin/python', import.meta.url))
  const absent = !existsSync(path)
  return { path, absent, note: absent ? ' (skipped: run scripts/oracles.sh first)' : '' }
}

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
}
