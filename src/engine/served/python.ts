import { TrinityError } from '../../base/error.js'
import type { EngineVerdict } from '../../machine/doctor/check.js'
import { pythonHaving, pythonsFor, pythonVariable } from '../../machine/python/having.js'

/** What a kind of server is in Python. */
export interface ServerPackage {
  /** `vllm` */
  readonly module: string
  readonly title: string
}

/** The Python to start a server from, or an error that says what to do. */
export function serverPython({ module, title }: ServerPackage): string {
  const python = pythonHaving(module)
  if (python !== undefined) return python
  const variable = pythonVariable(module)
  throw new TrinityError('engine/python', `none of these has ${title}: ${pythonsFor(module).join(', ')}`, {
    path: variable,
    hint: `install ${title} (pip install ${module}) and set ${variable} to its Python, or name a running server by base_url`,
  })
}

/** Whether there is a Python with it. Servers elsewhere need none. */
export function serverVerdict({ module, title }: ServerPackage): Omit<EngineVerdict, 'engine'> {
  const python = pythonHaving(module)
  if (python !== undefined) return { ready: true, why: `started from ${python}, or attached by base_url` }
  const fix = `install ${title} (pip install ${module}) and set ${pythonVariable(module)} to its Python`
  return { ready: false, why: 'no Python here has it; a running server can be attached by base_url', fix }
}
