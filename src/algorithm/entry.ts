import { z } from 'zod'
import { AGG_MODES } from '../config/index.js'

/** What every component of an algorithm tells about itself. */
export interface Entry {
  /** One line for people. */
  readonly doc: string
  /** Its arguments (`*_args` in the configuration), with a default for every one. Unknown names are refused. */
  readonly args: z.ZodObject
  /** Arguments of older configurations that are accepted and have no effect. */
  readonly ignored?: readonly string[]
}

/** How the numbers of all tokens become one: `loss_agg_mode`. */
export type AggMode = (typeof AGG_MODES)[number]

/** An argument that may be left open (`null`). */
export const open = <S extends z.ZodType>(schema: S) => schema.nullable().default(null as never)
export const positive = z.number().positive()
export const atLeast0 = z.number().nonnegative()
export const fraction = z.number().min(0).max(1)

/** The argument `loss_agg_mode` of a loss: how the numbers of all tokens become one. */
export const aggMode = open(z.enum(AGG_MODES)).describe(
  'How the loss of all tokens becomes one number; null: as algorithm.loss_agg_mode says, else as the function prefers.',
)
