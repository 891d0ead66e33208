import { TrinityError } from '../base/error.js'

const made = new Map<string, TrinityError>()

/**
 * Why a call ends that a workflow has left running. One error for all rollouts of a workflow: most end well, and an error
 * is not made for nothing.
 */
export function rolloutOver(workflow: string): TrinityError {
  const known = made.get(workflow)
  if (known) return known
  const text = `the rollout of workflow '${workflow}' has ended, and a call of its model had not`
  const error = new TrinityError('workflow/over', text, { hint: 'await every call before the workflow returns' })
  made.set(workflow, error)
  return error
}
