import { lstat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isDatabaseUrl, sqlitePath } from '../base/database/names.js'
import { TrinityError } from '../base/error.js'
import { withoutPassword } from '../base/secret/index.js'
import { markNewFile } from '../checkpoint/job-mark.js'
import type { Config } from '../config/index.js'
import { jobName } from './job-name.js'

/** Files that hold the experiences of a job, wherever they lie. A database on a server is left alone, and said so. */
export function experienceFiles({ buffer, data_processor }: Config): string[] {
  const main = buffer.trainer_input.experience_buffer
  const own = [
    // a data set that is read is not ours to delete
    main?.schema_type === 'experience' && main.storage_type !== 'file' ? main.path : null,
    data_processor.experience_pipeline.save_input ? data_processor.experience_pipeline.input_save_path : null,
  ]
  return own.flatMap((path) => {
    if (!path) return []
    const file = localFile(path)
    if (file !== undefined) return [file]
    throw new TrinityError('cli/fresh', `the experiences are in a database on a server: ${withoutPassword(path)}`, {
      hint: 'empty its tables yourself, then start without --fresh under a new name or after deleting the job folder',
    })
  })
}

/** The file of a path or a SQLite URL; undefined: it is on a server. */
export function localFile(path: string): string | undefined {
  if (!isDatabaseUrl(path)) return resolve(path)
  return path.startsWith('sqlite') ? resolve(sqlitePath(path)) : undefined
}

/** Takes note of a file that is about to be made: only what this job has made is deleted when it starts over. */
export async function markLocalFile(config: Config, path: string): Promise<void> {
  const file = localFile(path)
  if (file !== undefined) await markNewFile(config.checkpoint_job_dir, jobName(config), file)
}

/** Whether there is anything under this name, even a link to nowhere. */
export function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
