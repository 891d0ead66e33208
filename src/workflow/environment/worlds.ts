import type { WorkflowClass } from '../workflow.js'
import { alfworldWorkflows } from './alfworld.js'
import { EmailSearchWorkflow, emailJudgeArgs } from './email-search.js'
import { conversationIn, stepsIn } from './named.js'

/** Worlds that have workflows under names of their own, most of them known from other frameworks. */
export const worldWorkflows: Readonly<Record<string, WorkflowClass>> = {
  grid_world_workflow: stepsIn({
    doc: 'a walk over a grid around holes, with a reward at each step',
    environment: 'grid_world',
    reward: 'step',
  }),
  frozen_lake_workflow: conversationIn({
    doc: 'a walk over a frozen lake between any two fields, as one conversation',
    environment: 'frozen_lake',
    defaults: { start: 'anywhere', env_max_steps: 8 },
    maxSteps: 10,
    limit: 'agent_max_steps',
    counts: 'env_steps',
    metrics: ({ turn: { past }, score }) => ({ env_done: past.at(-1)?.transition.done ? 1 : 0, test_score: score }),
    sharedTokens: true,
  }),
  sudoku_workflow: stepsIn({
    doc: 'a Sudoku in steps of a few numbers, each with its own reward',
    environment: 'sudoku',
    reward: 'step',
  }),
  sciworld_workflow: conversationIn({
    doc: 'experiments in ScienceWorld, as one conversation',
    environment: 'scienceworld',
    defaults: { prompt: 'trinity', env_step_limit: 100 },
    counts: 'env_rounds',
    metrics: ({ turn: { past } }) => ({ env_done: past.at(-1)?.transition.done ? 1 : 0 }),
  }),
  webshop_workflow: conversationIn({
    doc: 'a visit of WebShop, as one conversation',
    environment: 'webshop',
    defaults: { prompt: 'trinity', invalid_reward: 0, unfinished_reward: -0.1 },
    counts: 'env_rounds',
    metrics: ({ turn: { past } }) => ({ env_done: past.at(-1)?.transition.done ? 1 : 0 }),
  }),
  intercode_sql_workflow: conversationIn({
    doc: 'questions about databases, answered with SQL as in InterCode, as one conversation',
    environment: 'intercode_sql',
    counts: 'env_rounds',
    metrics: ({ turn: { past }, score }) => ({
      env_done: past.at(-1)?.transition.done ? 1 : 0,
      action_executed: past.at(-1)?.transition.metrics?.valid_action ?? 0,
      final_reward: score,
    }),
  }),
  email_search_workflow: stepsIn(
    {
      doc: 'questions about a mailbox, answered with tools to search and read; each turn is an experience',
      environment: 'email_search',
      limit: 'max_turns',
      history: null,
    },
    EmailSearchWorkflow,
    emailJudgeArgs,
  ),
  ...alfworldWorkflows,
}
