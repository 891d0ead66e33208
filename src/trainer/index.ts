/** Experiences to weights: what a training step computes, in which order, with which settings. */

export { trainerNeeds } from './needs.js'
export type { Snapshot, TrainerEnd, TrainerParts, TrainerState, TrainerSync } from './parts.js'
export type { LrSchedule } from './schedule/lr-schedule.js'
export { lrSchedules } from './schedule/registry.js'
export { makeSchedule, type Schedule, type ScheduleConfig } from './schedule/schedule.js'
export { type StepModels, type StepOptions, type StepResult, TrainStep } from './step.js'
export { Trainer } from './trainer.js'
