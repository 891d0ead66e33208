import { argumentProblems } from '../base/arguments.js'
import { messageOf, type TrinityError } from '../base/error.js'
import type { EnvironmentEntry } from './environment.js'
import { environments } from './registry.js'

/** What is wrong with `environment` and `environment_args`, and at which of their keys. */
export interface EnvironmentProblem {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** All that is wrong with the name of an environment and its arguments, for those who check more than these. */
export function checkEnvironment(name: string, given: Readonly<Record<string, unknown>>): EnvironmentProblem[] {
  let entry: EnvironmentEntry
  try {
    entry = environments.get(name)
  } catch (error) {
    return [{ path: ['environment'], message: text(messageOf(error), (error as TrinityError).hint) }]
  }
  const { error } = entry.args.safeParse(given)
  return argumentProblems(entry.args, given, error?.issues ?? []).map(({ key, message, hint }) => ({
    path: ['environment_args', ...(key === '' ? [] : key.split('.'))],
    message: text(message, hint),
  }))
}

function text(message: string, hint: string | undefined): string {
  return hint ? `${message}; ${hint}` : message
}

/** A kind of environment and its arguments, checked. */
export function environmentOf(
  name: string,
  given: Readonly<Record<string, unknown>>,
): { entry: EnvironmentEntry; args: never } {
  const args = environments.parse(name, given, 'environment_args')
  return { entry: environments.get(name), args: args as never }
}
