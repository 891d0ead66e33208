import type { z } from 'zod'

/** What a priority function is told about an item: a list of experiences that were put together. */
export interface PriorityItem {
  /** Policy version of its first experience. */
  modelVersion: number
  /** How often it has been taken. */
  useCount: number
  /** The next number of the standard normal distribution, from the buffer's own seeded stream. */
  normal: () => number
}

/** The priority, highest first; undefined: not to be handed out (again). Asked at every insertion. */
export type PriorityOf = (item: PriorityItem) => number | undefined

/** A kind of priority, by name in the registry. */
export interface PriorityFn {
  readonly doc: string
  /** Its arguments, with a default for every one. Unknown names are refused. */
  readonly args: z.ZodObject
  create(args: never): PriorityOf
}

/** Describes a priority function for the registry; `create` gets its arguments checked and with their types. */
export function priorityFn<S extends z.ZodObject>(fn: {
  doc: string
  args: S
  create(args: z.output<S>): PriorityOf
}): PriorityFn {
  return fn
}
