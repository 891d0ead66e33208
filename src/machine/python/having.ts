import { execFileSync } from 'node:child_process'
import { homedir } from 'node:os'
import { pythonSources } from './find.js'

const ASK_MS = 20_000

/** The variable that names the Python of a package: large ones often have an environment of their own. */
export function pythonVariable(module: string): string {
  return `TRINITY_${module.toUpperCase()}_PYTHON`
}

/** Where a package is looked for: in the Python of its variable, else where torch is looked for. */
export function pythonsFor(module: string, env = process.env): string[] {
  const own = env[pythonVariable(module)]?.trim()
  return own ? [own] : pythonSources({ env, home: homedir() }).map(({ command }) => command)
}

const known = new Map<string, string | undefined>()

/** The first Python that has a package, as cheaply as it can be told: nothing of it is imported. */
export function pythonHaving(module: string): string | undefined {
  const pythons = pythonsFor(module)
  const key = [module, ...pythons].join('\n')
  if (!known.has(key)) {
    known.set(
      key,
      pythons.find((python) => has(python, module)),
    )
  }
  return known.get(key)
}

function has(python: string, module: string): boolean {
  const script = `import importlib.util, sys; sys.exit(importlib.util.find_spec('${module}') is None)`
  try {
    execFileSync(python, ['-I', '-c', script], { stdio: 'ignore', timeout: ASK_MS })
    return true
  } catch {
    return false
  }
}
