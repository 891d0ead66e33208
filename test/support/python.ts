import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The Python that tests run with: TRINITY_PYTHON, else that of scripts/test-python.sh. It must have the packages. */
export function testPython(...packages: string[]): { path: string; absent: boolean; note: string } {
  const path = process.env.TRINITY_PYTHON || fileURLToPath(new URL('../../.venv/bin/python', import.meta.url))
  const script = `from importlib.metadata import version; [version(p) for p in ${JSON.stringify(packages)}]`
  const absent = !existsSync(path) || spawnSync(path, ['-c', script]).status !== 0
  const note = absent ? ` (skipped: no Python with ${packages.join(' and ')}, run scripts/test-python.sh)` : ''
  return { path, absent, note }
}

export const torchTestPython = () => testPython('torch', 'transformers')
