import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { writeJsonFile } from '../base/file/atomic-file.js'
import { readJsonObject } from '../base/file/json-file.js'
import { JOB, stepsOnDisk } from './layout.js'

/** What must not change between two runs in one folder, by key of the configuration. */
export type JobIdentity = Readonly<Record<string, string>>

/** Refuses to go on with checkpoints of another model or algorithm; a folder without checkpoints becomes this job's. */
export async function claim(dir: string, identity: JobIdentity): Promise<void> {
  const path = join(dir, JOB)
  const known = await readJsonObject(path)
  const different = Object.keys(identity).find((key) => known !== undefined && known[key] !== identity[key])
  if (known && !different) return
  if (different && (await stepsOnDisk(dir)).length > 0) {
    const had = known?.[different] ?? 'unknown'
    throw new TrinityError(
      'checkpoint/other-job',
      `the checkpoints in ${dir} were made with ${different}: ${had}, this run has ${identity[different]}`,
      { path: different, hint: 'give this run another name, start over with --fresh, or change the setting back' },
    )
  }
  await writeJsonFile(path, identity)
}
