import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf, TrinityError } from '../base/error.js'

/** Writes what `--output` asks for. */
export function writeOutput(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const why = isMissing ? `there is no folder ${dirname(file)}` : messageOf(error)
    throw new TrinityError('cli/output', `cannot write ${file}: ${why}`, {
      path: '--output',
      hint: isMissing ? 'create the folder, or give another file' : 'give another file',
      cause: isMissing ? undefined : error,
    })
  }
}
