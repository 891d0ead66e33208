import type { Field } from '../../config/field.js'

/** Words that a description of a number begins with, and what is counted then. */
const UNITS: readonly (readonly [begins: RegExp, unit: string])[] = [
  [/^seconds\b|: seconds\b/i, 's'],
  [/^megabytes\b/i, 'MB'],
  [/^tokens\b|^longest (sequence|prompt|response)|^shortest response/i, 'tokens'],
  [/^(explore |train )?steps\b|^warm-up steps/i, 'steps'],
  [/^passes\b/i, 'passes'],
  [/^tasks\b/i, 'tasks'],
  [/^experiences\b/i, 'experiences'],
  [/^rollouts\b/i, 'rollouts'],
  [/^rows\b/i, 'rows'],
  [/^(GPUs|nodes|number of (nodes|engines)|processes|copies)\b/, 'count'],
  [/^share\b|^nucleus/i, '0–1'],
]

/** What a number counts: its description says so in its first words. */
export function unitOf({ kind, doc }: Pick<Field, 'kind' | 'doc'>): string | undefined {
  if (kind !== 'int' && kind !== 'float') return undefined
  return UNITS.find(([begins]) => begins.test(doc))?.[1]
}
