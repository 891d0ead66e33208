import { z } from 'zod'
import { environment } from '../environment.js'
import { wholeNumber } from '../row.js'
import { pythonArgs } from './args.js'
import { PythonWorld } from './world.js'

const table = z.record(z.string(), z.unknown())

const args = z.strictObject({
  /** The package of the environment, as `vf-eval` takes it. */
  id: z.string().min(1).describe('Name of the environment, a package that verifiers can import.'),
  /** Arguments of its taskset. */
  taskset: table.default({}),
  /** A multi-agent environment to pair it with. */
  env: z.string().default(''),
  /** Roles that other models play, each with `model` and `client`. */
  agents: z.record(z.string(), table).default({}),
  /** Replies of the model; then what is there is judged. */
  max_turns: z.int().min(1).default(10),
  ...pythonArgs,
})

const columns = z.object({ index: wholeNumber(0).optional() })

/** The worker itself notices that an episode hangs; it is killed where it no longer does. */
const GRACE_S = 15

export const verifiers = environment({
  doc: "environments of verifiers 0.4, in the user's Python",
  args,
  // the environment ends an episode after max_turns by itself, and judges it
  maxSteps: 200,
  create: ({ python, workers, timeout, ...spec }, context) =>
    PythonWorld.open(
      { kind: 'verifiers', name: spec.id, spec: { ...spec, timeout }, columns },
      { python, workers, timeout: timeout + GRACE_S },
      context,
    ),
  persona: () => ({
    system: ({ goal }) => goal,
    prompt: ({ observation }) => observation,
    action: (reply) => reply,
  }),
})
