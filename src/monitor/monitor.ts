/** Numbers of one step, by name. */
export type Metrics = Readonly<Record<string, number>>

/** Where the numbers of one role (explorer, trainer) go. A monitor that fails is reported and never stops a run. */
export interface Monitor {
  log(metrics: Metrics, step: number): void
  table(name: string, rows: readonly Readonly<Record<string, unknown>>[], step: number): void
  /** A resumed run makes everything after `step` again: what was recorded of it before is void. */
  rewind(step: number): void
  close(): Promise<void>
}
