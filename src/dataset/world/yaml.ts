import { stringify } from 'yaml'

/** How the rows of a folder are played. */
export interface Played {
  readonly workflow: string
  readonly args?: Readonly<Record<string, unknown>>
}

/** The lines of a configuration that train on one split and evaluate with another, where there are both. */
export function worldYaml(name: string, folder: string, { workflow, args }: Played, splits: readonly string[]): string {
  const taskset = (split: string) => ({
    path: folder,
    split,
    default_workflow_type: workflow,
    ...(args && { workflow_args: args }),
  })
  const [train] = splits.filter((split) => split === 'train')
  const evals = splits
    .filter((split) => split !== 'train')
    .map((split) => ({ name: `${name}-${split}`, ...taskset(split) }))
  const explorer_input = {
    ...(train && { taskset: taskset(train) }),
    ...(evals.length > 0 && { eval_tasksets: evals }),
  }
  return stringify({ buffer: { explorer_input } })
}

/** A world of the registry, step by step. */
export function inSteps(environment: string, environment_args?: Readonly<Record<string, unknown>>): Played {
  const args = { environment, ...(environment_args && { environment_args }) }
  return { workflow: 'step_wise_environment_workflow', args }
}
