import { relative, resolve } from 'node:path'
import { TrinityError } from '../base/error.js'

/** A file or folder as a configuration in `dir` names it, wherever it is run. */
export function besides(dir: string, file: string, option: string): string {
  const path = relative(dir, resolve(file))
  if (!/[{}$]/.test(path)) return `\${config.dir:${path}}`
  throw new TrinityError('init/data', `${file} cannot be written in a configuration`, {
    path: option,
    hint: 'rename it so that its path has no {, } or $',
  })
}
