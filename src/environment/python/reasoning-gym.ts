import { z } from 'zod'
import { environment } from '../environment.js'
import { lastTag } from '../reply.js'
import { seedColumn, wholeNumber } from '../row.js'
import { pythonArgs } from './args.js'
import { PythonWorld, type WorldSpec } from './world.js'

/** A level of the family's curriculum; it has a few, and more counts as the highest. */
const difficulty = z.int().min(0).nullable()
const config = z.record(z.string(), z.unknown())

const part = z.strictObject({
  name: z.string().min(1),
  weight: z.number().positive().default(1),
  difficulty: difficulty.default(null),
  config: config.default({}),
})
type Part = z.output<typeof part>

/** One name, or several with commas between them. */
const names = (value: unknown) =>
  typeof value === 'string' && /^\w+( *, *\w+)*$/.test(value) ? value.split(/ *, */) : value

/** Families, and how they are mixed; those without a difficulty or a configuration of their own have the common one. */
export const mixArgs = {
  dataset: z
    .preprocess(names, z.array(z.union([z.string().min(1), part])))
    .default([])
    .describe('families: names, or {name, weight, difficulty, config}'),
  difficulty: difficulty.default(null).describe('a level of the curricula'),
  config: config.default({}).describe('arguments of the families'),
  seed: z.int().min(0).default(42),
}
export type Mix = z.output<z.ZodObject<typeof mixArgs>> & { readonly size: number }

const MOST_ATTEMPTS = 10

const args = z.strictObject({
  ...mixArgs,
  /** Tasks of a family; the number of a row counts around it. */
  size: z.int().min(1).default(500),
  /** Answers that may be given until one is right. */
  attempts: z.int().min(1).max(MOST_ATTEMPTS).default(1),
  /** The system message; absent: how to answer; empty: none. */
  system: z.string().nullable().default(null),
  ...pythonArgs,
})

const columns = z.object({
  name: z.string().optional(),
  index: wholeNumber(0).optional(),
  seed: seedColumn,
  size: wholeNumber(1).optional(),
  difficulty: wholeNumber(0).optional(),
  config: config.optional(),
})

const RULES = `Solve the task. Think first if that helps, then give the final answer, and nothing else, inside tags: <answer>…</answer>. Where the task asks for a form of the answer, use it.`

export const reasoningGym = environment({
  doc: "families of tasks of reasoning-gym, which judges the answers, in the user's Python",
  args,
  maxSteps: MOST_ATTEMPTS,
  create: ({ attempts, ...given }, context) => PythonWorld.open(worldOf(given, { attempts }), given, context),
  persona: ({ system }) => ({
    ...(system !== '' && { system: () => system ?? RULES }),
    prompt: ({ observation }) => observation,
    action: (reply) => lastTag(reply, 'answer') ?? reply.trim(),
  }),
})

/** What a worker opens for a mix. */
export function worldOf(mix: Mix, more: Readonly<Record<string, unknown>>): WorldSpec {
  const { size, seed } = mix
  const datasets = partsOf(mix)
  return { kind: 'reasoning_gym', name: 'reasoning_gym', spec: { datasets, size, seed, ...more }, columns }
}

/** Every family with all that is said of it. */
export function partsOf({ dataset, difficulty: level, config: common }: Mix): Part[] {
  const parts = dataset.map((one) => (typeof one === 'string' ? part.parse({ name: one }) : one))
  return parts.map((one) => ({ ...one, difficulty: one.difficulty ?? level, config: { ...common, ...one.config } }))
}
