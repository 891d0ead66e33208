import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { execLocal } from '../../machine/python/exec.js'
import { type PythonHost, pythonSources } from '../../machine/python/find.js'

const ASK_MS = 15_000
/** Where virtual environments usually lie in a project. */
const PROJECT = '.venv/bin/python'

const found = new Map<string, Promise<string>>()

/**
 * The Python that has a package: the given one, that of TRINITY_PYTHON, of the project's .venv, of `trinity setup`, or of
 * PATH. One that the user has named is not replaced by another. Asked once for each package.
 */
export function interpreterFor(packageName: string, given: string | null): Promise<string> {
  const key = `${packageName} ${given ?? ''} ${process.env.TRINITY_PYTHON ?? ''}`
  const known = found.get(key)
  if (known) return known
  const host = { env: process.env, home: homedir(), exec: execLocal }
  const asking = findInterpreter(packageName, given, host)
  found.set(key, asking)
  // it may have been installed meanwhile
  asking.catch(() => found.delete(key))
  return asking
}

export async function findInterpreter(packageName: string, given: string | null, host: PythonHost): Promise<string> {
  const sources = given === null ? pythonSources(host) : [{ command: given, chosen: true }]
  const isChosen = sources[0].chosen
  const project = resolve(PROJECT)
  const commands = [...(!isChosen && existsSync(project) ? [project] : []), ...sources.map(({ command }) => command)]
  // a folder of that name is no package: it has no origin
  const script = `import importlib.util as u, sys; s = u.find_spec('${packageName}'); sys.exit(0 if s and s.origin else 3)`
  const without: string[] = []
  for (const command of commands) {
    const { status } = await host.exec(command, ['-c', script], { timeoutMs: ASK_MS })
    if (status === 'ok') return command
    if (status !== 'missing') without.push(command)
  }
  const pip = packageName.replaceAll('_', '-')
  if (without.length === 0) {
    throw new TrinityError('environment/python', `there is no Python: ${commands.join(', ')} cannot be run`, {
      hint: `install Python 3.10 or newer, and ${pip} into it; name it with 'python' or TRINITY_PYTHON`,
    })
  }
  throw new TrinityError('environment/python-package', `no Python has the package ${pip}: ${without.join(', ')}`, {
    hint: `${without[0]} -m pip install ${pip}; or name another Python with 'python' or TRINITY_PYTHON`,
  })
}
