import { TrinityError } from '../base/error.js'
import { nearest } from '../base/nearest.js'
import type { EnvironmentEntry } from './environment.js'
import { environments } from './registry.js'

/** What is wrong with `environment` and `environment_args`, and at which of their keys. */
export interface EnvironmentProblem {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** A kind of environment with its arguments checked, or all that is wrong with them. */
export function checkEnvironment(
  name: string,
  given: Readonly<Record<string, unknown>>,
): { entry: EnvironmentEntry; args: never; problems: [] } | { problems: EnvironmentProblem[] } {
  const entry = environments.find(name)
  if (!entry) {
    const message = `unknown environment '${name}'; ${hint(name, environments.names())}`
    return { problems: [{ path: ['environment'], message }] }
  }
  const parsed = entry.args.safeParse(given)
  if (parsed.success) return { entry, args: parsed.data as never, problems: [] }
  const known = Object.keys(entry.args.shape)
  const problems = parsed.error.issues.flatMap((issue): EnvironmentProblem[] => {
    const path = ['environment_args', ...issue.path]
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
    return issue.keys.map((key) => ({ path: [...path, key], message: `unknown argument; ${hint(key, known)}` }))
  })
  return { problems }
}

function hint(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  if (near) return `did you mean '${near}'?`
  return known.length > 0 ? `known: ${known.join(', ')}` : 'it takes none'
}

/** The same for those who cannot go on. */
export function environmentOf(
  name: string,
  given: Readonly<Record<string, unknown>>,
): { entry: EnvironmentEntry; args: never } {
  const checked = checkEnvironment(name, given)
  if ('entry' in checked) return checked
  const lines = checked.problems.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`)
  throw new TrinityError('environment/args', lines.join('; '), { path: 'environment_args' })
}
