import type { Config, Given, TrainerTree } from '../../config/index.js'
import { lrSchedules } from './registry.js'

type Optimizer = Config['algorithm']['optimizer']
type ScheduleKeys = 'lr' | 'lr_scheduler_type' | 'lr_warmup_steps' | 'lr_warmup_steps_ratio' | 'min_lr_ratio'

/** The optimizer settings that say how the learning rate changes over training. */
export type ScheduleConfig = Readonly<Pick<Optimizer, ScheduleKeys>> &
  Given<Pick<TrainerTree['critic']['optim'], 'num_cycles' | 'zero_indexed_step'>>

export interface Schedule {
  /** Learning rate of a training step; steps count from 1. */
  at(step: number): number
  /** What a person should know of it. */
  readonly note?: string
}

/** `total`: training steps in all; undefined where nobody knows. */
export function makeSchedule(config: ScheduleConfig, total: number | undefined): Schedule {
  const shape = lrSchedules.get(config.lr_scheduler_type)
  const { lr, min_lr_ratio: min, num_cycles: cycles = 0.5 } = config
  const wantsRatio = config.lr_warmup_steps < 0 && config.lr_warmup_steps_ratio > 0
  const warmup = wantsRatio
    ? Math.floor(config.lr_warmup_steps_ratio * (total ?? 0))
    : Math.max(0, config.lr_warmup_steps)
  const first = config.zero_indexed_step === false ? 0 : 1
  const lost = total === undefined && (wantsRatio || shape.needsTotal)
  return {
    at(step) {
      const index = step - first
      if (index < warmup) return (lr * index) / warmup
      if (shape.needsTotal && total === undefined) return lr
      const progress = Math.min(1, (index - warmup) / Math.max(1, (total ?? 0) - warmup))
      return lr * shape.factor({ progress, step: index, warmup, min, cycles })
    },
    note: lost
      ? `the number of training steps is not known, so ${wantsRatio ? 'there is no warm-up' : 'the learning rate stays constant'}: set trainer.total_steps`
      : undefined,
  }
}
