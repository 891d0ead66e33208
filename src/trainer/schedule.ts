import { Registry } from '../base/registry.js'

/** The optimiser settings that say how the learning rate changes over training. */
export interface ScheduleConfig {
  readonly lr: number
  readonly lr_scheduler_type: string
  /** Below 0: `lr_warmup_steps_ratio` of all steps. */
  readonly lr_warmup_steps: number
  readonly lr_warmup_steps_ratio: number
  readonly min_lr_ratio: number
  /** Of the cosine: 0.5 goes down once. */
  readonly num_cycles?: number
  /** True: the first step of a warm-up has rate 0, as in PyTorch's schedulers. False: it has the first share. */
  readonly zero_indexed_step?: boolean
}

interface Shape {
  readonly doc: string
  /** Factor of the learning rate; `progress` goes from 0 (end of the warm-up) to 1 (end of training). */
  factor(at: { progress: number; step: number; warmup: number; min: number; cycles: number }): number
  /** It ends with training, so it needs to know when that is. */
  readonly needsTotal: boolean
}

export const lrSchedules = new Registry<Shape>('learning-rate schedule', {
  constant: { doc: 'stays at lr', needsTotal: false, factor: () => 1 },
  linear: {
    doc: 'straight down to min_lr_ratio · lr',
    needsTotal: true,
    factor: ({ progress, min }) => 1 - (1 - min) * progress,
  },
  cosine: {
    doc: 'half a cosine down to min_lr_ratio · lr',
    needsTotal: true,
    factor: ({ progress, min, cycles }) =>
      Math.max(min, (1 + min) / 2 + (Math.cos(2 * Math.PI * cycles * progress) * (1 - min)) / 2),
  },
  inverse_sqrt: {
    doc: 'falls with the square root of the step, never below min_lr_ratio · lr',
    needsTotal: false,
    factor: ({ step, warmup, min }) => Math.max(min, Math.sqrt(Math.max(1, warmup) / Math.max(1, step, warmup))),
  },
})

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
