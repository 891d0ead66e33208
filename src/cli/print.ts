import pc from 'picocolors'
import { TrinityError } from '../base/error.js'
import { redact } from '../base/secret/index.js'
import { isWrongUse } from '../base/wrong-use.js'
import { typed } from './suggestion.js'

/**
 * 0 success, 1 the run failed, 2 wrong use or configuration, 3 the run made less than it was asked for, 130 and 143
 * stopped at once by Ctrl-C or SIGTERM.
 */
export type ExitCode = 0 | 1 | 2 | 3 | 130 | 143

/** A person, or who ended the process, wanted the command to end: that is no error. */
const ASKED_FOR: Readonly<Record<string, ExitCode>> = { 'cli/interrupted': 130, 'cli/terminated': 143 }

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof TrinityError && Object.hasOwn(ASKED_FOR, error.code)) return ASKED_FOR[error.code]
  return isWrongUse(error) ? 2 : 1
}

/** An error as a person can act on it: what, where, how to fix; the stack only when asked for; never a secret. */
export function formatError(error: unknown, debug: boolean): string {
  return redact(typed(textOf(error, debug)))
}

function textOf(error: unknown, debug: boolean): string {
  if (!(error instanceof TrinityError)) {
    const known = error instanceof Error
    const text = debug && known ? (error.stack ?? error.message) : known ? error.message : String(error)
    const hint = debug ? '' : `\n  ${pc.dim('run again with --debug to see the stack')}`
    return `${pc.red('error')} ${text}${hint}`
  }
  const lines = [Object.hasOwn(ASKED_FOR, error.code) ? error.message : `${pc.red('error')} ${error.message}`]
  if (error.path && !error.message.includes(error.path)) lines.push(`  ${pc.dim('at ')} ${error.path}`)
  if (error.hint) lines.push(`  ${pc.cyan('fix')} ${error.hint}`)
  if (error.cause instanceof Error && !error.message.includes(error.cause.message)) {
    lines.push(`  ${pc.dim('cause')} ${error.cause.message}`)
  }
  if (debug) lines.push(pc.dim(`  [${error.code}]`), pc.dim(error.stack ?? ''))
  if (debug && error.cause instanceof Error) lines.push(pc.dim(error.cause.stack ?? ''))
  return lines.join('\n')
}
