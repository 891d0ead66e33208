import { rewardFns } from '../reward/index.js'
import type { Task, TaskNeeds } from '../task/index.js'
import { workflows } from './registry.js'
import { isWorkflowClass, type WorkflowClass } from './workflow.js'

const NOTHING: TaskNeeds = { prompt: false, truth: false }

/** What a task must have for its workflow and its reward function. */
export function needsOf({ workflow, rewardFn }: Pick<Task, 'workflow' | 'rewardFn'>): TaskNeeds {
  const entry = workflows.find(workflow)
  if (!entry || !isWorkflowClass(entry)) return NOTHING
  const owner = ownerOf(entry)
  // A subclass that asks or judges in its own way, and does not say what it reads, may read anything.
  const same = (...methods: string[]) => methods.every((name) => methodOf(entry, name) === methodOf(owner, name))
  const reward = rewardFn ?? defaultReward(entry)
  const judged = reward !== undefined && same('run', 'reward') && (entry.reads ?? []).includes('reward')
  return {
    prompt: same('run', 'ask', 'messages') && (entry.reads ?? []).includes('prompt'),
    truth: judged && (rewardFns.find(reward)?.needsTruth ?? false),
  }
}

/** The class that says what is read. */
function ownerOf(entry: WorkflowClass): WorkflowClass {
  let owner: WorkflowClass = entry
  while (!Object.hasOwn(owner, 'reads') && typeof Object.getPrototypeOf(owner) === 'function') {
    owner = Object.getPrototypeOf(owner)
  }
  return owner
}

function methodOf(entry: WorkflowClass, name: string): unknown {
  return (entry.prototype as unknown as Record<string, unknown> | undefined)?.[name]
}

/** A getter that looks at its task cannot be asked without one. */
function defaultReward(entry: WorkflowClass): string | undefined {
  try {
    return methodOf(entry, 'defaultReward') as string | undefined
  } catch {
    return undefined
  }
}
