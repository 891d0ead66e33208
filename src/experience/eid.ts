import { randomBytes } from 'node:crypto'

/** Where an experience comes from. The keys derived below are how it is grouped: per task, per run, per step. */
export interface Eid {
  /** Explorer step; `<step>/<taskset>` for evaluation. */
  batch: number | string
  /** Index of the task in its batch; a workflow may name groups of its own. */
  task: number | string
  /** Which repetition of the task. */
  run: number
  /** Which step of a run that gives several experiences. */
  step: number
  /** Six hexadecimal digits that keep two experiences with equal numbers apart. */
  suffix: string
}

export function makeEid(partial: Partial<Eid> = {}): Eid {
  return {
    batch: partial.batch ?? '',
    task: partial.task ?? '',
    run: partial.run ?? 0,
    step: partial.step ?? 0,
    suffix: partial.suffix ?? randomBytes(3).toString('hex'),
  }
}

/** By explorer step, task, run and step of the run; numbers before names. The suffix says nothing about the order. */
export function compareEids(a: Eid, b: Eid): number {
  return compareParts(a.batch, b.batch) || compareParts(a.task, b.task) || a.run - b.run || a.step - b.step
}

function compareParts(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0
  return typeof a === 'number' ? -1 : 1
}

/** Key of the task: the group that GRPO normalizes over. */
export const tid = (eid: Eid): string => `${eid.batch}/${eid.task}`
/** Key of the run: one trajectory. */
export const rid = (eid: Eid): string => `${eid.batch}/${eid.task}/${eid.run}`
/** Key of the same step in all runs of a task. */
export const sid = (eid: Eid): string => `${eid.batch}/${eid.task}/${eid.step}`
/** Key of one experience. */
export const uid = (eid: Eid): string => `${eid.batch}/${eid.task}/${eid.run}/${eid.step}/${eid.suffix}`
