import { inScope, installScopes } from '../../base/scope/index.js'
import { createOpenAI, type OpenAIClient } from '../../dialect/openai/client.js'
import type { UnknownFields } from '../../dialect/request-notes.js'
import type { Experience } from '../../experience/index.js'
import type { SessionParts } from '../../gateway/index.js'
import type { WorkflowContext } from '../context.js'
import { rewarded } from './rewards.js'
import { sampledByRun } from './sampled-by-run.js'
import { scopeOf } from './scope.js'
import { withSession } from './shared-gateway.js'

/** What an agent gets to reach the model that is trained. All of it is for one rollout and dead afterwards. */
export interface AgentRollout extends Omit<WorkflowContext, 'model' | 'repeat'> {
  /** Of the OpenAI API (chat, completions, responses), for any client. */
  readonly baseURL: string
  /** Of the Anthropic API. */
  readonly anthropicBaseURL: string
  readonly apiKey: string
  /** A name for the model. Any other works as well. */
  readonly model: string
  /** A client with the shape of the OpenAI SDK that needs no HTTP. */
  readonly openai: OpenAIClient
  /** What a program that is started needs in its environment. */
  readonly env: Readonly<Record<string, string>>
}

/** How an agent is treated. */
export interface AgentOptions {
  /**
   * Who decides on temperature, `top_p`, `top_k`, `min_p` and seed: the run (default), whatever the agent asks for, or the
   * agent.
   */
  readonly sampling?: 'run' | 'agent'
  /**
   * Treatment of request fields that are unknown, and of hosted tools. Default: `explorer.rollout_model.unknown_request_fields`.
   */
  readonly unknownFields?: UnknownFields
}

/** Lets an agent work on a task, and gives what the model said with the reward that came of it. */
export async function rollOut(
  context: WorkflowContext,
  play: (rollout: AgentRollout) => unknown | Promise<unknown>,
  { sampling = 'run', unknownFields }: AgentOptions = {},
): Promise<Experience[]> {
  const { model, signal, task, logger } = context
  installScopes()
  model.recordHistory()
  model.refuseLong()
  const reached = sampling === 'run' ? sampledByRun(model) : model
  const onUnanswered: SessionParts['onUnanswered'] = (answers) => model.withdraw(answers)
  const reward = await withSession({ model: reached, signal, logger, unknownFields, onUnanswered }, (session) => {
    const { repeat: _, ...rest } = context
    const scope = scopeOf(session)
    const { baseURL, anthropicBaseURL, apiKey } = session
    const rollout: AgentRollout = {
      ...rest,
      ...{ baseURL, anthropicBaseURL, apiKey },
      model: model.name,
      openai: createOpenAI(reached, { logger, unknownFields }),
      env: scope.env,
    }
    return inScope(scope, async () => play(rollout))
  })
  return rewarded(reward, model, task.workflow)
}
