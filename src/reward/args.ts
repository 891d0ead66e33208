import { z } from 'zod'
import { answerParsers, answerVerifiers } from './answer/registry.js'
import { patternProblem } from './pattern.js'

/** The name of an answer parser; plugins are loaded before arguments are checked. */
export const answerParserName = registered(answerParsers, 'How the answer is taken out of the response.')
export const verifierName = registered(answerVerifiers, 'How the answer is compared with the truth.')

function registered(registry: { kind: string; has(name: string): boolean; names(): string[] }, doc: string) {
  return z
    .string()
    .refine((name) => registry.has(name), {
      error: (issue) => `unknown ${registry.kind} '${String(issue.input)}'; known: ${registry.names().join(', ')}`,
    })
    .nullable()
    .default(null)
    .describe(doc)
}

/** A regular expression that must match from the start of the response; dots match line ends. */
export const patternText = z
  .string()
  .refine((pattern) => patternProblem(pattern) === undefined, {
    error: (issue) => patternProblem(String(issue.input)) ?? 'not a regular expression',
  })
  .nullable()
  .default(null)
  .describe('Regular expression of a well-formed response, from its start.')
