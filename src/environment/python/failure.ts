import { TrinityError } from '../../base/error.js'
import { isJsonObject } from '../../base/file/json-file.js'
import type { WorldProcess } from './placed-process.js'

const AGAIN = 'its episodes are lost, the next ones get a new worker'

/** An error that a worker answers a call with. `what`: the call, as it reads in a message. */
export function answeredError(value: unknown, what: string): TrinityError {
  const { code, message, hint, trace } = isJsonObject(value) ? value : {}
  const text = (one: unknown) => (typeof one === 'string' ? one : undefined)
  return new TrinityError(text(code) ?? 'environment/failed', `${what}: ${text(message) ?? 'failed'}`, {
    hint: text(hint),
    cause: Array.isArray(trace) ? linesCause('the traceback ends', trace.map(String)) : undefined,
  })
}

/** Why a worker is no more. */
export function deathOf({ exit, log }: WorldProcess, python: string): TrinityError {
  const cause = linesCause("the worker's last lines", log.last())
  if (exit?.error) {
    return new TrinityError('environment/python', `the Python worker cannot be started: ${exit.error.message}`, {
      path: python,
      hint: "name a Python with the argument 'python' or the variable TRINITY_PYTHON",
    })
  }
  const how = exit?.lost ?? (exit?.signal ? `was ended by ${exit.signal}` : `ended with exit code ${exit?.code}`)
  return new TrinityError('environment/worker-died', `a Python worker ${how}`, { path: python, hint: AGAIN, cause })
}

/** The call that a worker was killed for. */
export function timedOut(what: string, ms: number, { log }: WorldProcess): TrinityError {
  return new TrinityError('environment/timeout', `${what}: no answer within ${ms / 1000} s; its worker was killed`, {
    hint: "raise the argument 'timeout' if the environment needs longer",
    cause: linesCause("the worker's last lines", log.last()),
  })
}

/** What the other calls of that worker are told. */
export function killedWith(what: string): TrinityError {
  return new TrinityError('environment/worker-died', `a Python worker was killed because of ${what}`, { hint: AGAIN })
}

function linesCause(title: string, lines: readonly string[]): Error | undefined {
  return lines.length === 0 ? undefined : new Error(`${title}:\n    ${lines.join('\n    ')}`)
}
