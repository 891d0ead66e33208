import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pythonSources } from './find.js'
import { belowFloor } from './floors.js'

/** Where `trinity setup torch` puts its environment. */
export function environmentDir(home: string = homedir()): string {
  return join(home, '.trinity', 'python')
}

/**
 * Whether the Python that the torch engine would take has what it needs, as cheaply as it can be told: it is asked when a
 * configuration leaves the engine open, before anything is started.
 */
export function hasTorch(env: Readonly<Record<string, string | undefined>> = process.env, home = homedir()): boolean {
  const sources = pythonSources({ env, home })
  const [{ chosen, command }] = sources
  // a file that the user has named is believed; a name is looked for as a shell does it
  if (chosen) return command.includes('/') ? existsSync(command) : suits(command)
  return isInstalled(environmentDir(home)) || suits('python3')
}

function isInstalled(folder: string): boolean {
  try {
    return readdirSync(join(folder, 'lib')).some((name) =>
      existsSync(join(folder, 'lib', name, 'site-packages', 'torch')),
    )
  } catch {
    return false
  }
}

/** Packages that are there and too old are no reason to fail where the native engine would have run. */
function suits(python: string): boolean {
  const script =
    'import json; from importlib.metadata import version; print(json.dumps({n: version(n) for n in ("torch", "transformers")}))'
  try {
    const said = execFileSync(python, ['-I', '-c', script], { encoding: 'utf8', stdio: 'pipe', timeout: 5000 })
    return Object.entries(JSON.parse(said) as Record<string, string>).every(
      ([name, version]) => !belowFloor(name, version),
    )
  } catch {
    return false
  }
}
