import { z } from 'zod'
import { environments } from '../../environment/index.js'
import type { Metrics } from '../../monitor/monitor.js'
import { RewardedStepsWorkflow, type StepWisePlan } from '../environment/step-wise.js'
import { workflowArgs } from '../workflow-args.js'

const world = environments.get('grid_world')

const gridArgs = z.strictObject({
  ...world.args.shape,
  max_env_steps: z.number().int().min(1).default(world.maxSteps),
})

/** The environment `grid_world` step by step, under a name and with arguments of its own. */
export class GridWorldWorkflow extends RewardedStepsWorkflow {
  static override readonly doc: string = 'a walk over a grid around holes, with a reward at each step'
  static override readonly args = gridArgs

  protected override plan(): StepWisePlan {
    const { max_env_steps, ...environment_args } = workflowArgs(this.task, gridArgs)
    return { environment: 'grid_world', environment_args, max_env_steps, history: 0 }
  }

  /** The steps say it all: `valid_move` and `goal`. */
  protected override metrics(): Metrics {
    return {}
  }
}
