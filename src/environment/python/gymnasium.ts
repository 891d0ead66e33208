import { z } from 'zod'
import { environment } from '../environment.js'
import { lastFence, lastTag } from '../reply.js'
import { seedColumn } from '../row.js'
import { pythonArgs } from './args.js'
import { PythonWorld } from './world.js'

const args = z.strictObject({
  /** As `gymnasium.make` takes it; `module:id` imports the module that registers it. */
  id: z.string().min(1).describe('Id of the environment, as gymnasium.make takes it.'),
  kwargs: z.record(z.string(), z.unknown()).default({}),
  /** `ansi`: what it draws in a terminal; `observation`: its observation; `auto`: ansi where it has that. */
  text: z.enum(['auto', 'ansi', 'observation']).default('auto'),
  /** Names of the actions that are numbers, in their order. */
  actions: z.array(z.string().min(1)).default([]),
  /** The system message; absent: how to answer, and the actions; empty: none. */
  system: z.string().nullable().default(null),
  ...pythonArgs,
})

const options = z.record(z.string(), z.unknown()).optional()
/** `kwargs`: besides those of the arguments; `options`: of the environment's reset. */
const columns = z.object({ seed: seedColumn, kwargs: options, options })

/** Actions that are named in the system message. */
const MOST_TOLD = 50

export const gymnasium = environment({
  doc: "any environment of Gymnasium, in the user's Python",
  args,
  maxSteps: 50,
  create: ({ id, kwargs, text, actions, ...python }, context) =>
    PythonWorld.open({ kind: 'gymnasium', name: id, spec: { id, kwargs, text, actions }, columns }, python, context),
  persona: ({ id, system }) => ({
    ...(system !== '' && { system: ({ admissible }) => system ?? rules(id, admissible) }),
    prompt: ({ observation }) => observation,
    action: (reply) => lastTag(reply, 'action') ?? lastFence(reply) ?? reply.trim(),
  }),
})

function rules(id: string, actions: readonly string[] | undefined): string {
  const known = actions && actions.length <= MOST_TOLD ? ` The actions are: ${actions.join(', ')}.` : ''
  return `You act in the world ${id}. Each message shows what you see. Answer with one action: <action>…</action>.${known}`
}
