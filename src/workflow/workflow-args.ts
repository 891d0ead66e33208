import { z } from 'zod'
import { TrinityError } from '../base/error.js'
import type { Task } from '../task/index.js'

/** `workflow_args` of a task, checked. Unknown names are refused. */
export function workflowArgs<S extends z.ZodObject>(
  task: Pick<Task, 'workflow' | 'workflowArgs'>,
  schema: S,
): z.output<S> {
  const parsed = schema.safeParse(task.workflowArgs)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'workflow_args'}: ${issue.message}`)
  throw new TrinityError('workflow/args', `workflow '${task.workflow}': ${issues.join('; ')}`, {
    path: 'workflow_args',
    hint: `known: ${Object.keys(schema.shape).join(', ') || 'none'}`,
  })
}

/** Of a workflow that takes none. */
export const noArgs = z.strictObject({})

/** An entry of `explorer.auxiliary_models`: its name or its place. */
export const auxiliaryName = z.union([z.string(), z.number().int().min(0)])
