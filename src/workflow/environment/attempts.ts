import type { WorkflowClass } from '../workflow.js'
import { conversationIn, type NamedWorld, stepsIn } from './named.js'

/** In steps, the whole conversation before stands in every prompt, and a reply of bad form ends it. */
const STEPS = { history: null, defaults: { end_on_bad_format: true } } as const

const dapo = attempts('dapo_math', 'a problem of mathematics in three attempts, answered in <answer>')
const qwen = attempts('qwen_math', 'a problem of mathematics in three attempts, answered in \\boxed{}')
const countdown = attempts('countdown', 'numbers to reach a target with, in three attempts')

/** The names under which the R3L study asks each question up to three times, for algorithms that only need rollouts. */
export const attemptWorkflows: Readonly<Record<string, WorkflowClass>> = {
  ...both('dapo', conversationIn(dapo)),
  ...both('qwen_math', conversationIn(qwen)),
  ...both('countdown', conversationIn(countdown)),
  ...steps('dapo', stepsIn({ ...dapo, ...STEPS })),
}

function attempts(environment: string, doc: string): NamedWorld {
  return { doc, environment, limit: 'attempts', counts: 'attempts' }
}

function both(name: string, workflow: WorkflowClass): Record<string, WorkflowClass> {
  return { [`grpo_baseline_${name}_workflow`]: workflow, [`opmd_baseline_${name}_workflow`]: workflow }
}

function steps(name: string, workflow: WorkflowClass): Record<string, WorkflowClass> {
  return Object.fromEntries(
    ['grpo', 'gspo', 'opmd'].map((algorithm) => [`step_${algorithm}_${name}_workflow`, workflow]),
  )
}
