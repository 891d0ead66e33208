import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pythonSources } from './find.js'

/** Where `trinity setup torch` puts its environment. */
export function environmentDir(home: string = homedir()): string {
  return join(home, '.trinity', 'python')
}

/**
 * Whether the Python that the torch engine would take has torch, as cheaply as it can be told: it is asked when a
 * configuration leaves the engine open, before anything is started.
 */
export function hasTorch(env: Readonly<Record<string, string | undefined>> = process.env, home = homedir()): boolean {
  const sources = pythonSources({ env, home })
  // what the user has named is believed
  if (sources[0].chosen) return existsSync(sources[0].command)
  return isInstalled(environmentDir(home)) || imports('python3')
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

function imports(python: string): boolean {
  const script = 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)'
  try {
    execFileSync(python, ['-I', '-c', script], { stdio: 'ignore', timeout: 5000 })
    return true
  } catch {
    return false
  }
}
