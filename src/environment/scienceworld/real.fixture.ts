import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { testPython } from '../../../test/support/python.js'
import { PLACED_JAR } from './simulator/jar.js'
import { javaCommand } from './simulator/java.js'

/** Java and the real simulator: of SCIENCEWORLD_JAR, where `trinity data` puts it, or of the package in the test Python. */
export function realSimulator(): { jar: string; absent: boolean; note: string } {
  const found = [process.env.SCIENCEWORLD_JAR, PLACED_JAR, inPackage()].find((path) => path && existsSync(path))
  const hasJava = spawnSync(javaCommand(), ['-version']).status === 0
  const why = found
    ? 'there is no Java'
    : 'there is no simulator: set SCIENCEWORLD_JAR, or run trinity data scienceworld'
  const absent = !found || !hasJava
  return { jar: found ?? '', absent, note: absent ? ` (skipped: ${why})` : '' }
}

function inPackage(): string | undefined {
  const { path, absent } = testPython('scienceworld')
  if (absent) return undefined
  const script = "import importlib.util as u; print(u.find_spec('scienceworld').origin)"
  const { stdout } = spawnSync(path, ['-c', script], { encoding: 'utf8' })
  return join(dirname(stdout.trim()), 'scienceworld.jar')
}
