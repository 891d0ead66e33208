import { TrinityError } from '../base/error.js'
import type { Experience } from '../experience/index.js'
import type { WorkflowContext } from '../workflow/context.js'
import { isWorkflowClass, type WorkflowEntry } from '../workflow/workflow.js'

/** Runs a workflow once, and closes what it opened. */
export async function perform(entry: WorkflowEntry, context: WorkflowContext): Promise<Experience[]> {
  const result = isWorkflowClass(entry) ? await performClass(entry, context) : await entry(context)
  const experiences = Array.isArray(result) ? [...result] : [result as Experience]
  if (experiences.length > 0 && experiences.every((one) => one !== undefined)) return experiences
  throw new TrinityError('workflow/no-experience', `workflow '${context.task.workflow}' returned no experience`, {
    hint: 'return what model.chat, model.generate or model.toExperiences returned',
  })
}

async function performClass(entry: Extract<WorkflowEntry, { repeats: boolean }>, context: WorkflowContext) {
  const workflow = new entry(context)
  try {
    return await workflow.run()
  } finally {
    await workflow.close()
  }
}
