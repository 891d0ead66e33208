import { basename, dirname } from 'node:path'
import { finalName } from '../base/file/atomic-file.js'
import { LEVELS } from '../base/log/log-dir.js'
import {
  BEST_EVAL,
  JOB,
  LATEST_FULL,
  LATEST_WEIGHTS,
  metaName,
  nameBeforeDamage,
  urlName,
} from '../checkpoint/layout.js'
import { lockedRole } from '../checkpoint/lock.js'
import { isRoster } from '../machine/ground/roster.js'
import { fileName } from '../monitor/names.js'
import { SPANS } from '../monitor/span/span-file.js'
import { beginning } from './evidence.js'
import { STAGE_META } from './stage-meta.js'

const STATUS = /^\.status-(.+)\.json$/

/** Roles whose files may lie in a job directory: those of this configuration, and those that have left a trace. */
export function rolesIn(names: readonly string[], now: readonly string[]): string[] {
  const traces = names.flatMap((name) => {
    const status = STATUS.exec(finalName(name))
    return status ? [decoded(status[1])] : (lockedRole(name) ?? [])
  })
  return [...new Set([...now, 'trainer', 'explorer', 'benchmark', ...traces])]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A file that stands in the job directory itself. */
export function isJobFile(name: string, roles: readonly string[]): boolean {
  const whole = nameBeforeDamage(finalName(name))
  if ([LATEST_FULL, LATEST_WEIGHTS, JOB, BEST_EVAL, metaName('run')].includes(whole)) return true
  if (STATUS.test(whole) || lockedRole(name)) return true
  return roles.some((role) => [metaName(role), metaName(`${role}_run`), urlName(role)].includes(whole))
}

/** A file by which a run knows that it has finished, or how far it is. */
export function isProgress(name: string): boolean {
  const whole = finalName(name)
  return [LATEST_FULL, LATEST_WEIGHTS, metaName('run'), STAGE_META].includes(whole) || whole.endsWith(metaName('_run'))
}

/** Every line of a log of ours begins with level, time and the name of the file. */
export async function isLog(path: string): Promise<boolean> {
  if (isRoster(finalName(basename(path)))) return /^(\{"workers":|$)/.test(await beginning(path, 64))
  const name = /^(.+)\.log(\.1)?$/.exec(basename(path))?.[1]
  if (name === undefined) return false
  const line = await beginning(path, 1024)
  const level = LEVELS.find((one) => line.startsWith(`${one} `))
  return (
    level !== undefined && /^ \d\d-\d\d \d\d:\d\d:\d\d /.test(line.slice(level.length)) && line.includes(`[${name}] `)
  )
}

const SPAN_LINE = /^\["[^"]+","\w+","[^"]*",\d/
const STEP_LINE = /^\{"step":-?[\d.e+]+,("time":[\d.e+]+,"metrics":\{|"rows":\[)/

/** Numbers and tables of a role, and what a service has got of them. */
export async function isMonitorFile(path: string, roles: readonly string[]): Promise<boolean> {
  const name = finalName(basename(path))
  // Ray's own record of its workers
  if (name === 'timeline.json') return (await beginning(path, 8)).startsWith('[')
  const role = roles.map(fileName).find((one) => name.startsWith(`${one}.`) || name.startsWith(`${one}_`))
  if (role === undefined) return false
  const text = await beginning(path, 1024)
  if (name.endsWith('.jsonl')) {
    const line = basename(dirname(path)) === SPANS ? SPAN_LINE : STEP_LINE
    return text === '' ? name === `${role}.jsonl` : line.test(text)
  }
  return /^\.\w+\.json$/.test(name.slice(role.length)) && /^\{("(run|step|names)":|\}\n$)/.test(text)
}

export const isEventFile = (name: string): boolean => /^events\.out\.tfevents\.\d{10,}\.[\w.-]+\.\d+\.0$/.test(name)
