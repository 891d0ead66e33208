import type { z } from 'zod'
import { TrinityError } from './error.js'
import { nearest } from './nearest.js'

/** The part of a zod object that is used. */
export interface ArgumentSchema {
  readonly shape?: Readonly<Record<string, unknown>>
  safeParse(
    value: unknown,
  ): { success: true; data: unknown } | { success: false; error: { issues: readonly ArgumentIssue[] } }
}

export interface ArgumentIssue {
  readonly code?: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly expected?: string
  /** The names that nothing knows. */
  readonly keys?: readonly string[]
}

/** What is wrong with one argument, as every place that checks arguments words it. */
export interface ArgumentProblem {
  /** Below the arguments; empty: all of them. */
  readonly key: string
  readonly message: string
  readonly hint?: string
  readonly isUnknown: boolean
}

export function argumentProblems(
  schema: ArgumentSchema,
  given: unknown,
  issues: readonly ArgumentIssue[],
): ArgumentProblem[] {
  const known = Object.keys(schema.shape ?? {})
  return issues.flatMap((issue): ArgumentProblem[] => {
    const key = issue.path.map(String)
    if (issue.code !== 'unrecognized_keys' || !issue.keys) {
      return [{ key: key.join('.'), message: messageOf(issue, given), isUnknown: false }]
    }
    // names deeper down have other neighbors than the arguments themselves
    const hintOf = (name: string) => (key.length === 0 ? knownHint(name, known) : undefined)
    return issue.keys.map((name) => ({
      key: [...key, name].join('.'),
      message: 'unknown argument',
      hint: hintOf(name),
      isUnknown: true,
    }))
  })
}

function knownHint(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  if (near) return `did you mean ${near}?`
  return known.length > 0 ? `known: ${known.join(', ')}` : 'it takes no arguments'
}

function messageOf({ code, path, message, expected }: ArgumentIssue, given: unknown): string {
  const at = path.reduce((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], given)
  if (code === 'invalid_type' && path.length > 0 && at === undefined && expected) return `missing, expected ${expected}`
  return message.charAt(0).toLowerCase() + message.slice(1)
}

/**
 * The arguments of a component, with its defaults. Whatever is wrong with them is one error, at the key where they stand.
 * `what` is the component as it reads in an error: `selector 'shuffle'`.
 */
export function parseArguments<S extends z.ZodObject>(
  what: string,
  schema: S,
  given: unknown,
  path: string,
): z.output<S>
export function parseArguments(what: string, schema: ArgumentSchema, given: unknown, path: string): unknown
export function parseArguments(what: string, schema: ArgumentSchema, given: unknown, path: string): unknown {
  const parsed = schema.safeParse(given ?? {})
  if (parsed.success) return parsed.data
  const problems = argumentProblems(schema, given ?? {}, parsed.error.issues)
  const texts = problems.map(({ key, message }) => (key === '' ? message : `${key}: ${message}`))
  const hints = new Set(problems.flatMap(({ hint }) => hint ?? []))
  throw new TrinityError('args/invalid', `${what}: ${texts.join('; ')}`, {
    path: problems.length === 1 && problems[0].key !== '' ? `${path}.${problems[0].key}` : path,
    hint: hints.size > 0 ? [...hints].join('; ') : undefined,
  })
}
