import type { z } from 'zod'
import type { Experience } from '../experience/experience.js'

/** What an operator gives back. Experiences may be fewer, more or changed; an operator changes copies, never its input. */
export interface OperatorResult {
  experiences: Experience[]
  /** For the monitor, without the prefix of the pipeline. */
  metrics?: Record<string, number>
  /** How many were left out, by reason. */
  dropped?: Record<string, number>
  /** What a task selector learns: values by index of the task, per task set. */
  feedback?: SelectorFeedback
}

export interface SelectorFeedback {
  [tasksetId: string]: { indices: number[]; values: number[] }
}

/** A step between rollout and training: experiences in, experiences out. */
export interface Operator {
  process(experiences: readonly Experience[], signal?: AbortSignal): OperatorResult | Promise<OperatorResult>
  close?(): Promise<void>
}

/** What an operator may use beside its arguments. */
export interface OperatorContext {
  /** `service` of the configuration. */
  service?: { data_juicer?: unknown }
  /** Clients of the auxiliary models, by name: judges, reward models. */
  models?: Readonly<Record<string, unknown>>
}

/** A kind of operator, by name in the registry. */
export interface OperatorEntry {
  readonly doc: string
  /** Every argument has a default or is required; unknown names are refused. */
  readonly args: z.ZodObject
  create(args: never, context: OperatorContext): Operator | Promise<Operator>
}

/**
 * Describes an operator for the registry; `create` gets its arguments checked and with their types.
 * @example
 * import { z } from 'trinity-rft'
 * import { operator, operators } from 'trinity-rft/data'
 *
 * operators.add('min_tokens', operator({
 *   doc: 'keeps experiences with at least this many tokens',
 *   args: z.strictObject({ tokens: z.number().default(2) }),
 *   create: ({ tokens }) => ({
 *     process: (all) => ({ experiences: all.filter((one) => one.tokens.length >= tokens) }),
 *   }),
 * }))
 */
export function operator<S extends z.ZodObject>(entry: {
  doc: string
  args: S
  create(args: z.output<S>, context: OperatorContext): Operator | Promise<Operator>
}): OperatorEntry {
  return entry
}

/** Keeps what `reason` says nothing against, and counts the rest by reason. */
export function sift(
  experiences: readonly Experience[],
  reason: (experience: Experience) => string | undefined,
): { kept: Experience[]; dropped: Record<string, number> } {
  const kept: Experience[] = []
  const dropped: Record<string, number> = {}
  for (const experience of experiences) {
    const why = reason(experience)
    if (why === undefined) kept.push(experience)
    else dropped[why] = (dropped[why] ?? 0) + 1
  }
  return { kept, dropped }
}

/** A reward that says something; an absent one is not zero. */
export function hasReward(experience: Experience): experience is Experience & { reward: number } {
  return experience.reward !== undefined && !Number.isNaN(experience.reward)
}

/** `name/mean`, `name/max`, `name/min`; nothing for no values. */
export function statistics(name: string, values: readonly number[]): Record<string, number> {
  if (values.length === 0) return {}
  let [sum, max, min] = [0, -Infinity, Infinity]
  for (const value of values) {
    sum += value
    max = Math.max(max, value)
    min = Math.min(min, value)
  }
  return { [`${name}/mean`]: sum / values.length, [`${name}/max`]: max, [`${name}/min`]: min }
}
