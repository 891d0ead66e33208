import { z } from 'zod'
import { checkEnvironment } from '../../environment/index.js'

const shape = {
  environment: z.string().describe('Name of the environment.'),
  environment_args: z.record(z.string(), z.unknown()).default({}).describe('Arguments of the environment.'),
  max_env_steps: z.number().int().min(1).nullable().default(null).describe("Absent: the environment's own limit."),
}

type Given = Pick<z.output<z.ZodObject<typeof shape>>, 'environment' | 'environment_args'>

/** Plugins are loaded before arguments are checked: what is unknown now stays unknown. */
function known({ environment, environment_args }: Given, context: z.RefinementCtx): void {
  for (const { path, message } of checkEnvironment(environment, environment_args)) {
    context.addIssue({ code: 'custom', path: [...path], message })
  }
}

/** An environment by its name and its arguments, and what else a workflow takes. */
export function withEnvironment<S extends z.ZodRawShape>(more: S) {
  return z.strictObject({ ...shape, ...more }).superRefine((given, context) => known(given as Given, context))
}

export const environmentArgs = withEnvironment({})

export const stepWiseEnvironmentArgs = withEnvironment({
  reward: z
    .enum(['step', 'final'])
    .default('step')
    .describe('`step`: each step has its own. `final`: what the episode was worth, at every step.'),
  history: z.number().int().min(0).nullable().default(0).describe('Earlier turns that stand in the prompt; null: all.'),
})
