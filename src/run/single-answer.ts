import type { Config } from '../config/index.js'

/** Advantages that compare the answers to one task with each other. */
const COMPARING =
  /^(grpo|grpo_verl|grpo_reweight_adv|step_wise_grpo|gigpo|rloo|opmd|opmd_verl|opmd_reweight_adv|step_wise_opmd|step_wise_opmd_reweight_adv)$/

/** A warning where an algorithm that compares answers gets one of each task; undefined: there is nothing to say. */
export function singleAnswer({ mode, algorithm }: Pick<Config, 'mode' | 'algorithm'>): string | undefined {
  const { advantage_fn: advantage, repeat_times, algorithm_type } = algorithm
  if (['train', 'bench'].includes(mode) || repeat_times !== 1 || !COMPARING.test(advantage ?? '')) return undefined
  return (
    `algorithm.repeat_times is 1: ${algorithm_type} compares the answers to a task with each other, and there is ` +
    'nothing to compare (set algorithm.repeat_times to 2 or more; 8 is usual)'
  )
}
