import { z } from 'zod'
import { parseArguments } from '../../base/arguments.js'
import { TrinityError } from '../../base/error.js'
import { workflows } from '../registry.js'
import type { WorkflowFunction } from '../workflow.js'
import { type AgentTask, rowOf } from './agent-task.js'
import type { AgentReward } from './rewards.js'
import { type AgentOptions, type AgentRollout, rollOut } from './rollout.js'

/** Somebody's agent: works on a task with the model of the rollout and says what that was worth. */
export type AgentFunction<T = AgentTask> = (task: T, rollout: AgentRollout) => AgentReward | Promise<AgentReward>

/**
 * Makes a workflow of an agent that is already written: the agent calls the model as it calls any other, and everything
 * the model says is recorded token by token. `default_workflow_type` names it.
 * @example
 * import { agent } from 'trinity-rft'
 *
 * export default agent('capitals', async (task, { openai, model }) => {
 *   const messages = [{ role: 'user', content: `What is the capital of ${task.country}?` }]
 *   const { choices } = await openai.chat.completions.create({ model, messages })
 *   return choices[0].message.content === task.truth
 * })
 */
export function agent<T = AgentTask>(
  name: string,
  run: AgentFunction<T>,
  options: AgentOptions = {},
): WorkflowFunction {
  check(name, run, options)
  const workflow: WorkflowFunction = (context) =>
    rollOut(context, (rollout) => run(rowOf(context.task) as T, rollout), options)
  workflows.add(name, workflow)
  return workflow
}

const optionsSchema = z.strictObject({
  sampling: z.enum(['run', 'agent']).optional(),
  unknownFields: z.enum(['ignore', 'refuse']).optional(),
})

function check(name: unknown, run: unknown, options: unknown): void {
  if (typeof name !== 'string' || name.trim() === '' || typeof run !== 'function') {
    throw new TrinityError('agent/wrong', 'agent() takes a name and a function', {
      hint: "write agent('name', async (task, rollout) => …)",
    })
  }
  parseArguments(`agent '${name}'`, optionsSchema, options as Record<string, unknown>, 'options')
}
