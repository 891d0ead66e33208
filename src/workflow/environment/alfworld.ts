import type { WorkflowClass } from '../workflow.js'
import { conversationIn, type NamedWorld, stepsIn } from './named.js'
import { ReflectionWorkflow, reflectionArgs } from './reflection.js'
import { RejectionWorkflow } from './rejection.js'

/** What does not reach the goal costs a little. */
const trinity = {
  environment: 'alfworld',
  defaults: { prompt: 'trinity', failure_reward: -0.1 },
  maxSteps: 30,
  counts: 'env_rounds',
  metrics: ({ turn: { past } }) => ({ env_done: past.at(-1)?.transition.done ? 1 : 0 }),
} satisfies Partial<NamedWorld>

const raft = {
  environment: 'alfworld',
  defaults: { prompt: 'raft' },
  maxSteps: 50,
  maxTokens: 4096,
  counts: 'steps',
  metrics: ({ score }) => ({ reward: score }),
} satisfies Partial<NamedWorld>

/** ALFWorld under the names that it has in Trinity-RFT. */
export const alfworldWorkflows: Readonly<Record<string, WorkflowClass>> = {
  alfworld_workflow: conversationIn({ doc: 'housework in ALFWorld, as one conversation', ...trinity }),
  step_wise_alfworld_workflow: stepsIn({
    doc: 'housework in ALFWorld, one experience per step, each with the reward of the whole',
    ...trinity,
    history: null,
    reward: 'final',
  }),
  RAFT_alfworld_workflow: conversationIn(
    { doc: 'housework in ALFWorld; only what succeeds is learned', ...raft },
    RejectionWorkflow,
  ),
  RAFT_reflect_alfworld_workflow: conversationIn(
    { doc: 'housework in ALFWorld; after a failure a second attempt, which is learned if it is better', ...raft },
    ReflectionWorkflow,
    reflectionArgs('RAFT_reflect_alfworld_data'),
  ),
}
