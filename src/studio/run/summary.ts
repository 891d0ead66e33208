import { basename, dirname, join, relative } from 'node:path'
import { messageOf, type TrinityError } from '../../base/error.js'
import { readJsonObject } from '../../base/file/json-file.js'
import { redactValue } from '../../base/secret/index.js'
import { readBestEval } from '../../checkpoint/best-eval.js'
import type { BestEval, EvalRecord } from '../../checkpoint/checkpoint.js'
import { readMark } from '../../checkpoint/job-mark.js'
import { BENCH, JOB, metaName } from '../../checkpoint/layout.js'
import type { LockHolder } from '../../checkpoint/lock.js'
import { type RecordedEnd, type RunRecord, readRecords } from '../../run/record.js'
import { isOver, type RoleStatus } from '../../synchronizer/status.js'
import { statusFolder } from '../../synchronizer/status-store.js'
import type { Evaluation, Evaluations, RoleState, RunState, RunSummary } from '../api.js'
import type { FoundRun } from './find.js'
import { failureOf } from './last-words.js'
import { lastChange, progressOf, readPulse, rolesWithNumbers, sparkOf } from './pulse.js'
import { readTags } from './tags.js'
import { isBench, workersOf } from './workers.js'

/** What the list of runs shows of one, from its files alone. A file that cannot be understood is told, not thrown. */
export async function summarize(run: FoundRun): Promise<RunSummary> {
  const { id, path } = run
  const problems: string[] = []
  const reading = async <T>(work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => {
      problems.push(messageOf(error))
      return undefined
    })
  const [mark, identity, records = [], holders = [], statuses = [], best, changed, tags = []] = await Promise.all([
    reading(readMark(path)),
    reading(readJsonObject(join(path, JOB))),
    reading(readRecords(path)),
    reading(workersOf(path)),
    reading(statusFolder(path).read()),
    reading(readBestEval(path).then((found) => found ?? readBestEval(join(path, BENCH)))),
    lastChange(path),
    reading(readTags(path)),
  ])
  const record: RunRecord | undefined = records[0]
  const roles = rolesOf(holders, statuses)
  const isAlive = holders.length > 0
  const isFinished = (await reading(hasFinished(path))) || (isBench(records) && record?.end?.how === 'finished')
  const error = isAlive || isFinished ? undefined : await reading(failureOf(run, record, changed))
  const pulses = await Promise.all((await rolesWithNumbers(run)).map((role) => readPulse(path, role)))
  const first = Math.min(...pulses.flatMap(({ rows }) => (rows[0]?.time ? [rows[0].time] : [])))
  const { config } = record ?? {}
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? redactValue(value) : undefined)
  return {
    id,
    name: mark?.job ?? placeOf(run),
    path,
    state: stateOf(isAlive, roles, isFinished === true, error && (record?.end?.how ?? 'failed'), problems.length > 0),
    roles,
    error,
    progress: progressOf(pulses, { ...goalOf(config), ...record?.expects }, isAlive),
    evaluation: best && evaluationsOf(best),
    spark: sparkOf(pulses),
    mode: text(config?.mode),
    algorithm: text(config?.algorithm?.algorithm_type) ?? text(identity?.['algorithm.algorithm_type']),
    model: text(config?.model?.model_path) ?? text(identity?.['model.model_path']),
    engine: config && {
      trainer: text(config.trainer?.trainer_type),
      sampler: text(config.explorer?.rollout_model?.engine_type),
    },
    started: Number.isFinite(first) ? first : undefined,
    changed,
    tags,
    problems,
  }
}

/** The same of a run of which nothing may be read. */
export async function unread(run: FoundRun, { message, hint }: TrinityError): Promise<RunSummary> {
  const problem = hint === undefined ? message : `${message} (${hint})`
  return {
    ...{ id: run.id, name: placeOf(run), path: run.path, state: 'broken', changed: await lastChange(run.path) },
    ...{ roles: [], progress: progressOf([], {}, false), tags: [], problems: [problem] },
  }
}

function placeOf({ path, root }: FoundRun): string {
  return relative(root, path) || join(basename(dirname(path)), basename(path))
}

export function briefly({ step, metric, score }: EvalRecord): Evaluation {
  return { step, metric, score }
}

function evaluationsOf({ first, best, last }: BestEval): Evaluations {
  return { first: briefly(first), best: briefly(best), last: briefly(last) }
}

function stateOf(
  isAlive: boolean,
  roles: readonly RoleState[],
  isFinished: boolean,
  failure: RecordedEnd | undefined,
  isBroken: boolean,
): RunState {
  if (isAlive) return roles.every(({ waitsFor }) => waitsFor !== undefined) ? 'waiting' : 'running'
  if (isFinished) return 'finished'
  if (failure !== undefined) return failure === 'partial' ? 'partial' : 'failed'
  return isBroken ? 'broken' : 'stopped'
}

/** The trainer's word counts; explorers that trained nothing have one of their own. */
async function hasFinished(dir: string): Promise<boolean> {
  return (await readJsonObject(join(dir, metaName('run'))))?.finished === true
}

/** Whoever holds a lock, with what it tells the others. */
function rolesOf(holders: readonly LockHolder[], statuses: readonly RoleStatus[]): RoleState[] {
  return holders.map(({ role, pid, host }) => {
    const status = statuses.find((one) => one.name === role && one.pid === pid && !isOver(one))
    return { role, pid, host, ...(status && waitOf(status)) }
  })
}

function waitOf({ state, waits_for, step, version }: RoleStatus): Omit<RoleState, 'role'> {
  const whom = { wants_experiences: 'experiences', wants_weights: 'new weights' }[state as string]
  return { waitsFor: waits_for ?? whom, step, version }
}

function goalOf(config: RunRecord['config'] | undefined): Record<string, number> {
  const steps = config?.buffer?.total_steps
  const trained = config?.trainer?.total_steps ?? steps
  return { ...(steps ? { explorer: steps } : {}), ...(trained ? { trainer: trained } : {}) }
}
