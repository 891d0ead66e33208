import { join } from 'node:path'
import { makeFolder } from '../base/file/make-folder.js'
import { inWords } from '../base/file/system-error.js'
import { JobLock } from '../checkpoint/lock.js'
import { duration } from '../monitor/terminal/number.js'
import { Capacity } from './capacity.js'
import { ChildRun } from './child.js'
import { isFinished, type PlannedRun, planSweep, type SweepPlan } from './plan.js'
import { runQueue } from './queue.js'
import { recordSweep } from './record.js'
import type { SweepSpec } from './spec.js'

export interface SweepOptions {
  /** How this program is started: the interpreter and the script. */
  readonly program: readonly string[]
  /** Deletes what earlier runs have left. */
  readonly isFresh?: boolean
  readonly stop: AbortSignal
  readonly now: AbortSignal
  /** For a person: what begins and what has ended. */
  say(text: string): void
}

/** How the runs of a sweep ended. */
export interface SweepEnd {
  readonly plan: SweepPlan
  readonly finished: readonly PlannedRun[]
  readonly failed: readonly { readonly run: PlannedRun; readonly why: string }[]
  /** Not begun, or stopped on the way: the same command goes on with them. */
  readonly left: readonly PlannedRun[]
}

/** Runs everything that has not got to its end yet. */
export async function runSweep(spec: SweepSpec, options: SweepOptions): Promise<SweepEnd> {
  const plan = await planSweep(spec)
  await inWords(makeFolder(plan.dir), plan.dir)
  // two at once would take runs from each other
  const lock = await JobLock.take(plan.dir, 'sweep')
  try {
    return await runPlanned(plan, spec, options)
  } finally {
    await lock.release()
  }
}

async function runPlanned(plan: SweepPlan, spec: SweepSpec, options: SweepOptions): Promise<SweepEnd> {
  const { program, isFresh = false, stop, now, say } = options
  await recordSweep(plan, isFresh, say)
  const before = isFresh ? [] : await finishedOf(plan.runs)
  if (before.length > 0) say(`${before.length} of ${plan.runs.length} runs were finished before`)
  const capacity = new Capacity(spec.parallel)
  const failed: { run: PlannedRun; why: string }[] = []
  const begun = new Map<string, number>()
  const place = (run: PlannedRun) => `[${plan.runs.indexOf(run) + 1}/${plan.runs.length}] ${run.id}`
  await runQueue(
    plan.runs.filter((run) => !before.includes(run)),
    {
      capacity,
      stop,
      now,
      start: (run) =>
        new ChildRun(run, {
          program,
          pluginDirs: spec.plugin_dirs,
          threads: capacity.threads(),
          isFresh,
          log: logOf(plan, run),
        }),
      begun: (run) => {
        begun.set(run.id, performance.now())
        say(`${place(run)}: begins`)
      },
      ended: (run, why) => {
        const took = duration((performance.now() - (begun.get(run.id) ?? 0)) / 1000)
        const how = stop.aborted ? 'stopped' : why === undefined ? 'ended' : `failed: ${why}`
        if (why !== undefined && !stop.aborted) failed.push({ run, why })
        say(`${place(run)}: ${how} after ${took}`)
      },
    },
  )
  const finished = await finishedOf(plan.runs)
  const left = plan.runs.filter((run) => !finished.includes(run) && failed.every((one) => one.run !== run))
  return { plan, finished, failed, left }
}

/** Where everything is that a run has printed. */
export function logOf({ dir }: SweepPlan, { id }: Pick<PlannedRun, 'id'>): string {
  return join(dir, `${id}.log`)
}

async function finishedOf(runs: readonly PlannedRun[]): Promise<PlannedRun[]> {
  const done = await Promise.all(runs.map(isFinished))
  return runs.filter((_, i) => done[i])
}
