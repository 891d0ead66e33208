/** How the learning rate goes on after the warm-up, by its name in `lr_scheduler_type`. */
export interface LrSchedule {
  /** One line for people. */
  readonly doc: string
  /** Factor of the learning rate; `progress` goes from 0 (end of the warm-up) to 1 (end of training). */
  factor(at: { progress: number; step: number; warmup: number; min: number; cycles: number }): number
  /** It ends with training, so it needs to know when that is. */
  readonly needsTotal: boolean
}
