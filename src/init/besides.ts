import { relative, resolve } from 'node:path'
import { TrinityError } from '../base/error.js'

/** A file or folder as a configuration in `dir` names it, wherever it is run. */
export function besides(dir: string, file: string, option: string): string {
  const path = relative(dir, resolve(file))
  if (!/[{}$]/.test(path)) return `\${config.dir:${path}}`
  throw new TrinityError('init/data', `a configuration cannot name ${file}`, {
    path: option,
    hint: 'give it a name without { } and $',
  })
}
