import { messageOf, TrinityError } from '../base/error.js'
import { systemError } from '../base/file/system-error.js'
import { strays } from './stray.js'

/** What is printed goes nowhere, such as a log on a full disk: the command has failed, and a run saves first. */
export function tellUnwritable(name: string, cause: unknown): void {
  const known = systemError(cause, name)
  const message = known instanceof TrinityError ? known.message : `cannot write ${name}: ${messageOf(cause)}`
  const hint = 'make room where it goes, or send it elsewhere; the same command resumes a run from its last checkpoint'
  strays.fail(new TrinityError('output/unwritable', message, { hint, cause }))
}
