import { TrinityError } from '../base/error.js'
import type { Config } from '../config/index.js'
import { prepareReward } from '../reward/index.js'
import { argsOf, workflowArgs, workflows } from '../workflow/index.js'

/** Workflows, rewards and their arguments that nothing here knows, found before a model is loaded. */
export function unknownNames({ mode, buffer }: Config): TrinityError[] {
  if (mode === 'train') return []
  const problems: TrinityError[] = []
  const attempt = (look: () => unknown) => {
    try {
      look()
    } catch (error) {
      if (!(error instanceof TrinityError)) throw error
      if (!problems.some(({ message }) => message === error.message)) problems.push(error)
    }
  }
  const { tasksets, eval_tasksets } = buffer.explorer_input
  for (const taskset of [...tasksets, ...eval_tasksets]) {
    const { default_workflow_type: workflow, workflow_args, default_reward_fn_type, reward_fn_args } = taskset
    if (workflow !== null) attempt(() => checkWorkflow(workflow, workflow_args))
    if (default_reward_fn_type !== null) attempt(() => prepareReward(default_reward_fn_type, reward_fn_args))
  }
  return problems
}

function checkWorkflow(workflow: string, given: Record<string, unknown>): void {
  const args = argsOf(workflows.get(workflow))
  if (args) workflowArgs({ workflow, workflowArgs: given }, args)
}
