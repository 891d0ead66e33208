import { z } from 'zod'
import { checkEnvironment, type Episode, environments } from '../../environment/index.js'
import type { ChatMessage } from '../../model/index.js'
import type { Metrics } from '../../monitor/monitor.js'
import type { Task } from '../../task/index.js'
import type { WorkflowClass } from '../workflow.js'
import { workflowArgs } from '../workflow-args.js'
import { EnvironmentWorkflow } from './concatenated.js'
import type { EnvironmentPlan } from './run.js'
import { StepWiseEnvironmentWorkflow, type StepWisePlan } from './step-wise.js'

/** A world under a workflow's name of its own. Its arguments stand in `workflow_args` itself, beside the limit of steps. */
export interface NamedWorld {
  readonly doc: string
  readonly environment: string
  /** Arguments of the world that the name settles; a user cannot give them. */
  readonly settled?: Readonly<Record<string, unknown>>
  /** Other defaults than the world's. */
  readonly defaults?: Readonly<Record<string, unknown>>
  /** Steps of an episode by default; absent: the world's. */
  readonly maxSteps?: number
  /** How `workflow_args` calls the limit of steps. */
  readonly limit?: string
  /** One more name for the number of steps, as a metric. */
  readonly counts?: string
  /** Further numbers about an episode. */
  readonly metrics?: (episode: Episode) => Metrics
  /** `max_response_tokens` holds for all that follows the first prompt together, not for each reply (conversations only). */
  readonly sharedTokens?: boolean
  /** The most tokens of a reply, whatever else is allowed (conversations only). */
  readonly maxTokens?: number
}

/** The episode as one conversation and one experience; in a workflow of another kind, with arguments of its own. */
export function conversationIn(
  named: NamedWorld,
  Kind: typeof EnvironmentWorkflow = EnvironmentWorkflow,
  more: z.ZodRawShape = {},
): WorkflowClass {
  const args = namedArgs(named, more)
  return class extends Kind {
    static override readonly doc = named.doc
    static override readonly args = args
    #firstPrompt: number | undefined

    protected override plan(): EnvironmentPlan {
      return planOf(named, args, this.task)
    }

    protected override room(messages: readonly ChatMessage[]): number | undefined {
      const { maxResponseTokens } = this.model.limits
      if (named.maxTokens !== undefined) return Math.min(named.maxTokens, maxResponseTokens ?? named.maxTokens)
      if (!named.sharedTokens || maxResponseTokens == null) return undefined
      const length = this.model.promptTokens(messages).length
      this.#firstPrompt ??= length
      return maxResponseTokens - (length - this.#firstPrompt)
    }

    protected override metrics(episode: Episode): Metrics {
      return { ...super.metrics(episode), ...numbers(named, episode) }
    }
  }
}

/** The episode step by step, each an experience; in a workflow of another kind, with arguments of its own. */
export function stepsIn(
  named: NamedWorld & Partial<Pick<StepWisePlan, 'history' | 'reward'>>,
  Kind: typeof StepWiseEnvironmentWorkflow = StepWiseEnvironmentWorkflow,
  more: z.ZodRawShape = {},
): WorkflowClass {
  const args = namedArgs(named, more)
  const { history = 0, reward = 'final' } = named
  return class extends Kind {
    static override readonly doc = named.doc
    static override readonly args = args

    protected override plan(): StepWisePlan {
      return { ...planOf(named, args, this.task), history, reward }
    }

    protected override metrics(episode: Episode): Metrics {
      return { ...super.metrics(episode), ...numbers(named, episode) }
    }
  }
}

function numbers({ counts, metrics }: NamedWorld, episode: Episode): Metrics {
  return { ...(counts !== undefined && { [counts]: episode.turn.step }), ...metrics?.(episode) }
}

/** The arguments of a named world, beside those of its workflow. */
export function namedArgs(
  { environment, settled = {}, defaults = {}, maxSteps, limit = 'max_env_steps' }: NamedWorld,
  more: z.ZodRawShape = {},
): z.ZodObject {
  const world = environments.get(environment)
  const open = Object.entries(world.args.shape).filter(([name]) => !Object.hasOwn(settled, name))
  const shape = Object.fromEntries(
    open.map(([name, type]) => [
      name,
      Object.hasOwn(defaults, name) ? (type as z.ZodType).default(defaults[name]) : type,
    ]),
  )
  return z
    .strictObject({
      ...more,
      ...shape,
      [limit]: z
        .number()
        .int()
        .min(1)
        .default(maxSteps ?? world.maxSteps)
        .describe('Longest episode, in steps.'),
    })
    .superRefine((given, context) => {
      for (const { path, message } of checkEnvironment(environment, { ...ownOf(given, shape), ...settled })) {
        context.addIssue({ code: 'custom', path: path.slice(1), message })
      }
    })
}

/** What the arguments of a task ask of a named world. */
export function planOf(named: NamedWorld, args: z.ZodObject, task: Task): EnvironmentPlan {
  const { environment, settled, limit = 'max_env_steps' } = named
  const given = workflowArgs(task, args)
  const own = ownOf(given, environments.get(environment).args.shape)
  return { environment, environment_args: { ...own, ...settled }, max_env_steps: given[limit] as number }
}

/** Those of the arguments that are the world's. */
function ownOf(given: Readonly<Record<string, unknown>>, shape: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(shape, name)))
}
