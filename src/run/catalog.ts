import type { AlgorithmFacts, Catalog, Component, Config, Lookup, Parsed, TasksetConfig } from '../config/index.js'
import { engineLookup } from '../engine/registry.js'

/**
 * Everything that is registered, plugins included. Told what it is for, it leaves out what the files do not use: the
 * operators and the grader of rewards bring libraries that take longer to load than all the rest.
 */
export async function loadCatalog(files?: readonly Parsed[]): Promise<Catalog> {
  const [algorithm, selector, priority, monitor, operators, rewardFns, workflows] = await Promise.all([
    import('../algorithm/index.js'),
    import('../task/selector/index.js'),
    import('../buffer/priority/registry.js'),
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
    engines: engineLookup,
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
