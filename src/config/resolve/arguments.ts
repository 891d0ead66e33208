import { nearest } from '../../base/nearest.js'
import type { Component, Issue } from '../catalog.js'
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
  for (const issue of result.error.issues) report(issue, component, key, scope)
  return given
}

function readText(value: unknown): unknown {
  return typeof value === 'string' ? decode(value) : value
}

function report(issue: Issue, component: Component, key: string, scope: Scope): void {
  const unknown = (issue as { keys?: readonly string[] }).keys
  if (issue.code === 'unrecognized_keys' && unknown) {
    const known = Object.keys(component.args.shape ?? {})
    for (const name of unknown) {
      const near = nearest(name, known)
      const hint = near
        ? `did you mean ${near}?`
        : known.length > 0
          ? `known: ${known.join(', ')}`
          : 'it takes no arguments'
      scope.error('unknown-key', `${key}.${name}`, 'unknown argument', hint)
    }
    return
  }
  scope.error(
    'value',
    [key, ...issue.path.map(String)].join('.'),
    issue.message.charAt(0).toLowerCase() + issue.message.slice(1),
  )
}
