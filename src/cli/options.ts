import type { z } from 'zod'
import { argumentProblems } from '../base/arguments.js'
import { TrinityError } from '../base/error.js'
import { nearest } from '../base/nearest.js'
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
  const pairs: [string, unknown][] = []
  for (let at = 0; at < words.length; at++) {
    const [, name, inline] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(words[at]) ?? []
    if (name === undefined) {
      throw new TrinityError('cli/usage', `${what}: '${words[at]}' does not belong to any option`, {
        hint: known(schema),
      })
    }
    const key = name.replaceAll('-', '_')
    const next = words[at + 1]
    const isFlag = inline === undefined && (next === undefined || /^--\D/.test(next))
    const text = inline ?? (isFlag ? 'true' : words[++at])
    pairs.push([key, readValue(schema, key, text, words[at])])
  }
  const given = Object.fromEntries(pairs)
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const problems = argumentProblems(schema, given, parsed.error.issues)
  const texts = problems.map(({ key, message }) => (key === '' ? message : `${optionOf(key)}: ${message}`))
  const unknown = problems.filter(({ isUnknown }) => isUnknown).map(({ key }) => key)
  const near = unknown.flatMap((key) => nearest(key, Object.keys(schema.shape)) ?? []).map(optionOf)
  throw new TrinityError('args/invalid', `${what}: ${texts.join('; ')}`, {
    path: problems.length === 1 ? optionOf(problems[0].key) : undefined,
    hint: near.length > 0 ? `did you mean ${near.join(', ')}?` : known(schema),
  })
}

/** The value of an argument from its text, as its schema wants it; of one that is not known, the text. */
export function readValue({ shape }: z.ZodObject, key: string, text: string, where: string): unknown {
  const schema = Object.hasOwn(shape, key) ? (shape[key] as z.ZodType) : undefined
  if (!schema || schema.safeParse(text).success) return text
  const value = plain(parseValue(text, where))
  const wanted = schema.safeParse(value).error?.issues[0] as { expected?: string } | undefined
  return wanted?.expected === 'array' ? text.split(',').map((item) => plain(parseValue(item, where))) : value
}

function known(schema: z.ZodObject): string {
  const keys = Object.keys(schema.shape).map(optionOf)
  return keys.length > 0 ? `it takes ${keys.join(', ')}` : 'it takes no options of its own'
}
