import type { Config, TasksetConfig } from './section/config.js'
import type { Parsed } from './stages.js'

/** The registries a configuration is checked against. Structural, so that this folder imports none of them. */
export interface Catalog {
  readonly algorithms: Lookup<AlgorithmFacts>
  readonly advantageFns: Lookup<Component>
  readonly policyLossFns: Lookup<Component>
  readonly klFns: Lookup<Component>
  readonly entropyLossFns: Lookup<Component>
  readonly sampleStrategies: Lookup<Component>
  readonly selectors: Lookup<Component>
  readonly priorityFns: Lookup<Component>
  readonly operators: Lookup<Component>
  readonly monitors: Lookup<Component>
  readonly rewardFns: Lookup<Component>
  /** Those that say what arguments they take. */
  readonly workflows: Lookup<Component>
}

export interface Lookup<T> {
  readonly kind: string
  find(name: string): T | undefined
  names(): string[]
}

export interface Component {
  readonly args: ArgumentSchema
  readonly ignored?: readonly string[]
  /** The aggregation a policy loss prefers. */
  readonly loss_agg_mode?: string
  /** How many feature columns a selector needs, at least and at most. */
  readonly features?: readonly [min: number, max: number]
}

/** The part of a zod object that is used. */
export interface ArgumentSchema {
  readonly shape?: Readonly<Record<string, unknown>>
  safeParse(value: unknown): { success: true; data: unknown } | { success: false; error: { issues: readonly Issue[] } }
}
export interface Issue {
  readonly code?: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly expected?: string
}

export interface AlgorithmFacts {
  readonly use_critic: boolean
  readonly use_reference: boolean
  readonly compute_advantage_in_trainer: boolean
  readonly schema: 'experience' | 'sft' | 'dpo' | 'cpt'
  readonly defaults: Readonly<Record<string, unknown>>
}

/**
 * Everything that is registered, plugins included. Told what it is for, it leaves out what the files do not use: the
 * operators and the grader of rewards bring libraries that take longer to load than all the rest.
 */
export async function loadCatalog(files?: readonly Parsed[]): Promise<Catalog> {
  const [algorithm, selector, priority, monitor, operators, rewardFns, workflows] = await Promise.all([
    import('../algorithm/index.js'),
    import('../task/selector/index.js'),
    import('../buffer/priority/priority.js'),
    import('../monitor/registry.js'),
    files === undefined || files.some(usesOperators)
      ? import('../pipeline/registry.js').then((m) => m.operators)
      : none('operator'),
    files === undefined || files.some(usesRewards)
      ? import('../reward/registry.js').then((m) => m.rewardFns)
      : none('reward function'),
    files === undefined || files.some(usesWorkflowArgs) ? loadWorkflows() : none('workflow'),
  ])
  return {
    algorithms: algorithm.algorithms as unknown as Lookup<AlgorithmFacts>,
    advantageFns: algorithm.advantageFns,
    policyLossFns: algorithm.policyLossFns,
    klFns: algorithm.klFns,
    entropyLossFns: algorithm.entropyLossFns,
    sampleStrategies: algorithm.sampleStrategies,
    selectors: selector.selectors,
    priorityFns: priority.priorityFns,
    operators,
    monitors: monitor.monitors,
    rewardFns,
    workflows,
  }
}

async function loadWorkflows(): Promise<Lookup<Component>> {
  const { argsOf, workflows } = await import('../workflow/index.js')
  const find = (name: string): Component | undefined => {
    const args = argsOf(workflows.find(name))
    return args && { args }
  }
  return { kind: workflows.kind, find, names: () => workflows.names() }
}

function none(kind: string): Lookup<Component> {
  return { kind, find: () => undefined, names: () => [] }
}

function usesOperators({ stages }: Parsed): boolean {
  return stages.some(({ config }) => config.data_processor.experience_pipeline.operators.length > 0)
}

function usesRewards({ stages }: Parsed): boolean {
  return stages.some(({ config: { mode, buffer } }) => {
    const given = buffer.explorer_input.default_reward_fn_type
    return mode !== 'train' && (given ?? tasksetsOf(buffer).find((set) => set.default_reward_fn_type)) != null
  })
}

function usesWorkflowArgs({ stages }: Parsed): boolean {
  return stages.some(({ config: { mode, buffer } }) => {
    return mode !== 'train' && tasksetsOf(buffer).some((set) => Object.keys(set.workflow_args).length > 0)
  })
}

function tasksetsOf({ explorer_input: { taskset, tasksets, eval_tasksets } }: Config['buffer']): TasksetConfig[] {
  return [...(taskset ? [taskset] : []), ...tasksets, ...eval_tasksets]
}
