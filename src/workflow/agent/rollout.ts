import { inScope, installScopes } from '../../base/scope/index.js'
import type { OpenAIClient } from '../../dialect/openai/client.js'
import type { Experience } from '../../experience/index.js'
import type { WorkflowContext } from '../context.js'
import { rewarded } from './rewards.js'
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

/** Lets an agent work on a task, and gives what the model said with the reward that came of it. */
export function rollOut(
  context: WorkflowContext,
  play: (rollout: AgentRollout) => unknown | Promise<unknown>,
): Promise<Experience[]> {
  const { model, signal, task } = context
  installScopes()
  model.recordHistory()
  return withSession(model, signal, async (session) => {
    const { repeat: _, ...rest } = context
    const scope = scopeOf(session)
    const { baseURL, anthropicBaseURL, apiKey } = session
    const rollout: AgentRollout = {
      ...rest,
      ...{ baseURL, anthropicBaseURL, apiKey },
      model: model.name,
      openai: model.openai(),
      env: scope.env,
    }
    const reward = await inScope(scope, async () => play(rollout))
    return rewarded(reward, model, task.workflow)
  })
}
