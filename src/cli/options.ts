import type { z } from 'zod'
import { argumentProblems } from '../base/arguments.js'
import { TrinityError } from '../base/error.js'
import { plain } from '../config/node.js'
import { parseValue } from '../config/yaml.js'

/** The option that an argument is on the command line. */
export function optionOf(key: string): string {
  return `--${key.replaceAll('_', '-')}`
}

/**
 * Words of a command line as arguments: `--max-numbers 4`, `--max-numbers=4`, and `--flag` for true. Text stays text where
 * the argument takes it; otherwise it is read as YAML, a list also as `a,b`.
 */
export function parseOptions<S extends z.ZodObject>(what: string, schema: S, words: readonly string[]): z.output<S> {
  const given: Record<string, unknown> = {}
  for (let at = 0; at < words.length; at++) {
    const [, name, inline] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(words[at]) ?? []
    if (name === undefined) {
      throw new TrinityError('cli/usage', `${what}: '${words[at]}' belongs to no option`, { hint: known(schema) })
    }
    const key = name.replaceAll('-', '_')
    const next = words[at + 1]
    const isFlag = inline === undefined && (next === undefined || /^--\D/.test(next))
    const text = inline ?? (isFlag ? 'true' : words[++at])
    given[key] = readValue(schema.shape[key] as z.ZodType | undefined, text, words[at])
  }
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const problems = argumentProblems(schema, given, parsed.error.issues)
  const texts = problems.map(({ key, message }) => (key === '' ? message : `${optionOf(key)}: ${message}`))
  const near = problems.flatMap(({ hint }) => hint?.replace(/\b[a-z]+(_[a-z]+)+\b/g, (key) => optionOf(key)) ?? [])
  throw new TrinityError('args/invalid', `${what}: ${texts.join('; ')}`, {
    path: problems.length === 1 ? optionOf(problems[0].key) : undefined,
    hint: near.length > 0 ? [...new Set(near)].join('; ') : known(schema),
  })
}

/** The value of an argument from its text, as its schema wants it. */
export function readValue(schema: z.ZodType | undefined, text: string, where: string): unknown {
  if (!schema || schema.safeParse(text).success) return text
  const value = plain(parseValue(text, where))
  if (schema.safeParse(value).success) return value
  const list = text.split(',').map((item) => plain(parseValue(item, where)))
  return schema.safeParse(list).success ? list : value
}

function known(schema: z.ZodObject): string {
  const keys = Object.keys(schema.shape).map(optionOf)
  return keys.length > 0 ? `it takes ${keys.join(', ')}` : 'it takes no options of its own'
}
