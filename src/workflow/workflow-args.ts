import { z } from 'zod'
import { parseArguments } from '../base/arguments.js'
import type { Task } from '../task/index.js'

/** `workflow_args` of a task, checked. Unknown names are refused. */
export function workflowArgs<S extends z.ZodObject>(
  task: Pick<Task, 'workflow' | 'workflowArgs'>,
  schema: S,
): z.output<S> {
  return parseArguments(`workflow '${task.workflow}'`, schema, task.workflowArgs, 'workflow_args')
}

/** Of a workflow that takes none. */
export const noArgs = z.strictObject({})

/** An entry of `explorer.auxiliary_models`: its name or its place. */
export const auxiliaryName = z.union([z.string(), z.number().int().min(0)])
