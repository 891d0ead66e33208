import type { WorkflowClass } from '../workflow.js'
import { attemptWorkflows } from './attempts.js'
import { stepsIn } from './named.js'

/** Worlds that have workflows under names of their own, most of them known from other frameworks. */
export const worldWorkflows: Readonly<Record<string, WorkflowClass>> = {
  grid_world_workflow: stepsIn({
    doc: 'a walk over a grid around holes, with a reward at each step',
    environment: 'grid_world',
    reward: 'step',
  }),
  ...attemptWorkflows,
}
