import { argumentProblems } from '../../base/arguments.js'
import type { Component } from '../catalog.js'
import type { Dict } from '../field.js'
import { decode } from '../template.js'
import type { Scope } from './scope.js'

/**
 * The arguments of a registered function: what the user gives, over the function's own defaults. Unknown names and
 * wrong types are reported at the key.
 */
export function resolveArguments(component: Component, given: Dict, key: string, scope: Scope): Dict {
  for (const name of component.ignored ?? []) {
    if (Object.hasOwn(given, name))
      scope.note('no-effect', `${key}.${name}`, 'known from the rest of the configuration')
  }
  let result = component.args.safeParse(given)
  if (!result.success) {
    // a value from ${oc.env:...} arrives as text
    const texts = result.error.issues.filter((issue) => issue.code === 'invalid_type' && issue.path.length === 1)
    const read = Object.fromEntries(texts.map((issue) => [issue.path[0], readText(given[String(issue.path[0])])]))
    result = component.args.safeParse({ ...given, ...read })
  }
  if (result.success) return result.data as Dict
  for (const problem of argumentProblems(component.args, given, result.error.issues)) {
    const at = problem.key === '' ? key : `${key}.${problem.key}`
    scope.error(problem.isUnknown ? 'unknown-key' : 'value', at, problem.message, problem.hint)
  }
  return given
}

function readText(value: unknown): unknown {
  return typeof value === 'string' ? decode(value) : value
}
