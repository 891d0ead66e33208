import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The Python that tests of the torch engine run with: TRINITY_PYTHON, else that of this checkout. */
export function torchTestPython(): { path: string; absent: boolean; note: string } {
  const path = process.env.TRINITY_PYTHON || fileURLToPath(new URL('../../.venv/bin/python', import.meta.url))
  const script = 'from importlib.metadata import version; version("torch"); version("transformers")'
  const absent = !existsSync(path) || spawnSync(path, ['-c', script]).status !== 0
  return {
    path,
    absent,
    note: absent ? ' (skipped: no Python with torch and transformers, see trinity setup torch)' : '',
  }
}
