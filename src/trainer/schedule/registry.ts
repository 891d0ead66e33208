import { Registry } from '../../base/registry.js'
import type { LrSchedule } from './lr-schedule.js'

/** Learning-rate schedules by name. */
export const lrSchedules = new Registry<LrSchedule>('learning-rate schedule', {
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
