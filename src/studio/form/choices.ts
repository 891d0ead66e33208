import type { ArgumentSchema } from '../../base/arguments.js'
import type { Registry } from '../../base/registry.js'
import type { Catalog, EngineRole, Lookup } from '../../config/index.js'
import { argsOf, type WorkflowEntry } from '../../workflow/workflow.js'
import type { Choice } from '../api.js'
import { argumentFields } from './arguments.js'

/** Where the value of a key is the name of something that is registered: record and key, list, and the key of its arguments. */
const NAMED: readonly (readonly [record: string, key: string, list: string, args?: string])[] = [
  ['AlgorithmConfig', 'algorithm_type', 'algorithms'],
  ['AlgorithmConfig', 'sample_strategy', 'sampleStrategies', 'sample_strategy_args'],
  ['AlgorithmConfig', 'advantage_fn', 'advantageFns', 'advantage_fn_args'],
  ['AlgorithmConfig', 'kl_penalty_fn', 'klFns', 'kl_penalty_fn_args'],
  ['AlgorithmConfig', 'policy_loss_fn', 'policyLossFns', 'policy_loss_fn_args'],
  ['AlgorithmConfig', 'kl_loss_fn', 'klFns', 'kl_loss_fn_args'],
  ['AlgorithmConfig', 'entropy_loss_fn', 'entropyLossFns', 'entropy_loss_fn_args'],
  ['ExplorerInput', 'default_workflow_type', 'workflows'],
  ['ExplorerInput', 'default_eval_workflow_type', 'workflows'],
  ['ExplorerInput', 'default_reward_fn_type', 'rewardFns'],
  ['TasksetConfig', 'default_workflow_type', 'workflows', 'workflow_args'],
  ['TasksetConfig', 'default_reward_fn_type', 'rewardFns', 'reward_fn_args'],
  ['DataSelectorConfig', 'selector_type', 'selectors', 'kwargs'],
  ['ReplayBufferConfig', 'priority_fn', 'priorityFns', 'priority_fn_args'],
  ['OperatorConfig', 'name', 'operators', 'args'],
  ['MonitorConfig', 'monitor_type', 'monitors', 'monitor_args'],
  ['InferenceModelConfig', 'engine_type', 'samplers'],
  ['TrainerConfig', 'trainer_type', 'trainers'],
]

/** The list that a key chooses from. */
export function listOf(record: string, key: string): string | undefined {
  return NAMED.find(([where, name]) => where === record && name === key)?.[2]
}

/** The key beside it whose choice says which arguments a key holds. */
export function chooserOf(record: string, key: string): string | undefined {
  return NAMED.find(([where, , , args]) => where === record && args === key)?.[1]
}

const AUTO: Choice = { name: 'auto', doc: 'the best that runs here' }

/** Everything that is registered, plugins included. */
export function choicesOf(catalog: Catalog, workflows: Registry<WorkflowEntry>): Record<string, Choice[]> {
  const { engines, ...lists } = catalog
  const choices = Object.entries(lists).map(([name, list]: [string, Lookup<unknown>]) => [
    name,
    list.names().map((one) => choiceOf(one, list.find(one))),
  ])
  const able = (role: EngineRole) => [
    AUTO,
    ...engines.all().flatMap((one) => (one.roles.includes(role) ? [{ name: one.name, doc: docOf(one) }] : [])),
  ]
  return {
    ...Object.fromEntries(choices),
    // the catalog knows their arguments alone
    workflows: workflows.names().map((name) => {
      const entry = workflows.get(name)
      return { name, doc: docOf(entry), args: argumentFields(argsOf(entry)) }
    }),
    samplers: able('sample'),
    trainers: able('train'),
  }
}

function choiceOf(name: string, entry: unknown): Choice {
  const { args, schema } = (entry ?? {}) as { args?: ArgumentSchema; schema?: unknown }
  return { name, doc: docOf(entry), args: argumentFields(args), ...(typeof schema === 'string' && { schema }) }
}

/** One line, where it has one of its own: a class would else give that of the class it extends. */
function docOf(entry: unknown): string | undefined {
  const doc = Object.hasOwn(entry ?? {}, 'doc') ? (entry as { doc?: unknown }).doc : undefined
  return typeof doc === 'string' ? doc : undefined
}
