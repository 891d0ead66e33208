import { z } from 'zod'
import { isJsonObject } from '../../base/file/json-file.js'
import { jsonIn } from '../../base/json-text.js'

const words = { type: 'string', maxLength: 600 } as const
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] })

/**
 * What a reflection says of a trajectory of so many steps, as a JSON Schema. Of a failure every such report can be used; a
 * success may be called perfect.
 */
export function reportSchema(steps: number, isWon: boolean) {
  const ofFailure = (schema: object) => (isWon ? orNull(schema) : schema)
  const properties = {
    trajectory_summary: words,
    root_cause_analysis: ofFailure(words),
    trajectory_outcome: { enum: isWon ? ['success', 'success_but_inefficient'] : ['failure'] },
    improvement_suggestion: ofFailure(words),
    retry_from_step: ofFailure({ type: 'integer', minimum: 0, maximum: steps - 1 }),
  }
  return { type: 'object', properties, required: Object.keys(properties) }
}

/** Why a reflection cannot be used: what was said, or what became of it (`too_long`, `cut`, `replay`). */
export const UNUSABLE = ['too_long', 'cut', 'no_json', 'no_field', 'outcome', 'no_advice', 'pivot', 'replay'] as const
export type Unusable = (typeof UNUSABLE)[number]

/** What came of a reflection. */
export type Verdict =
  | { readonly unusable: Unusable }
  /** Nothing could have been done better. */
  | { readonly isPerfect: true }
  /** The whole report, and the step from which on to do it otherwise. */
  | { readonly isPerfect: false; readonly report: Readonly<Record<string, unknown>>; readonly pivot: number }

const FIELDS = ['trajectory_summary', 'root_cause_analysis', 'trajectory_outcome'] as const

/** A whole number, also in digits or with an empty fraction: models write both. */
const step = z.union([
  z.int(),
  z
    .string()
    .regex(/^\s*\d{1,9}\s*$/)
    .transform(Number),
])

/** Reads a report on a trajectory of so many steps, from the first brace to the last of what follows the thinking. */
export function readReport(text: string, steps: number): Verdict {
  const report = objectIn(text)
  if (!report) return { unusable: 'no_json' }
  if (FIELDS.some((name) => !Object.hasOwn(report, name))) return { unusable: 'no_field' }
  const { trajectory_outcome: outcome, improvement_suggestion: advice, retry_from_step } = report
  if (outcome === 'success') return { isPerfect: true }
  if (outcome !== 'success_but_inefficient' && outcome !== 'failure') return { unusable: 'outcome' }
  if (advice === null || advice === undefined) return { unusable: 'no_advice' }
  const pivot = step.safeParse(retry_from_step)
  if (!pivot.success || pivot.data < 0 || pivot.data >= steps) return { unusable: 'pivot' }
  return { isPerfect: false, report, pivot: pivot.data }
}

/** The end of the thinking may also stand in the report, as advice on the form of a reply. */
function objectIn(text: string): Record<string, unknown> | undefined {
  const to = text.lastIndexOf('}')
  const ends = [...text.matchAll(/<\/think>/g)].map(({ index }) => index)
  if (to < 0 || ends.some((end) => end > to)) return undefined
  for (const end of [...ends, 0]) {
    const found = jsonIn(text.slice(text.indexOf('{', end), to + 1))
    if (isJsonObject(found)) return found
  }
  return undefined
}
