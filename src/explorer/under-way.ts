import type { WorkflowContext } from '../workflow/context.js'
import { Workflow } from '../workflow/workflow.js'
import { UNDER_WAY } from './under-way-key.js'

const names = new WeakMap<object, string>()
const current = new Set<string>()

/**
 * Rollouts that run in this process. Whoever finds the process blocked looks for objects of a rollout on the stack.
 */
export async function underWay<T>(name: string, context: WorkflowContext, work: () => Promise<T>): Promise<T> {
  for (const part of [context, context.task, context.model, context.signal]) names.set(part, name)
  current.add(name)
  try {
    return await work()
  } finally {
    current.delete(name)
  }
}

/** The rollout that an object belongs to; without one, all that are under way. */
export function rolloutsOf(value?: unknown): string[] {
  if (value === undefined) return [...current]
  const of = value instanceof Workflow ? value.context : value
  const name = typeof of === 'object' && of !== null ? names.get(of) : undefined
  return name === undefined ? [] : [name]
}

// The watchdog asks from another thread, while nothing else runs in this one.
Object.defineProperty(globalThis, Symbol.for(UNDER_WAY), { value: rolloutsOf, configurable: true })
