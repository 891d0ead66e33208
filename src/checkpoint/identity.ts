import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { writeJsonFile } from '../base/file/atomic-file.js'
import { HIDDEN, redactValue } from '../base/secret/index.js'
import { JOB, stepsOnDisk } from './layout.js'
import { readSummary, type Warn } from './summary.js'

/** What must not change between two runs in one folder, by key of the configuration. */
export type JobIdentity = Readonly<Record<string, string>>

/**
 * Refuses to resume from checkpoints of another model or algorithm; a folder without checkpoints becomes this job's. The
 * file keeps no secrets, so that a new password is no new job. A damaged file is set aside with a warning.
 */
export async function claim(dir: string, own: JobIdentity, warn?: Warn): Promise<void> {
  const identity = Object.fromEntries(Object.entries(own).map(([key, value]) => [key, redactValue(value)]))
  const path = join(dir, JOB)
  const known = await readSummary(path, warn)
  const different = Object.keys(identity).find((key) => known !== undefined && !isSame(known[key], identity[key]))
  if (known && !different && Object.values(known).every((one) => one === redactValue(String(one)))) return
  if (different && (await stepsOnDisk(dir)).length > 0) {
    const had = redactValue(String(known?.[different] ?? 'unknown'))
    throw new TrinityError(
      'checkpoint/other-job',
      `the checkpoints in ${dir} were made with ${different}: ${had}, this run has ${identity[different]}`,
      { path: different, hint: 'give this run another name, start over with --fresh, or change the setting back' },
    )
  }
  await writeJsonFile(path, identity)
}

/** What is hidden in one of the two may be anything in the other. */
function isSame(known: unknown, now: string): boolean {
  if (typeof known !== 'string') return false
  const before = withoutDot(redactValue(known))
  const after = withoutDot(now)
  return before === after || fits(before, after) || fits(after, before)
}

/** `./model` is the folder that `model` is; earlier releases wrote it without. */
const withoutDot = (path: string) => path.replace(/^\.\//, '')

function fits(pattern: string, text: string): boolean {
  const parts = pattern.split(HIDDEN)
  if (parts.length === 1) return false
  const expression = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')
  return new RegExp(`^${expression}$`, 's').test(text)
}
