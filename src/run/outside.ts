import { lstat } from 'node:fs/promises'
import { isAbsolute, relative, resolve } from 'node:path'
import { isDatabaseUrl, sqlitePath } from '../base/database/names.js'
import { TrinityError } from '../base/error.js'
import { withoutPassword } from '../base/secret/index.js'
import { markedFiles, markNewFile } from '../checkpoint/job-mark.js'
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

/**
 * Makes a file of experiences this job's own before it is opened: one that is new is noted as made by this job, and a
 * file that somebody else has made is refused, because a job cuts its files back to where its last checkpoint was.
 * Databases say themselves whose they are.
 */
export async function claimFile(config: Config, path: string): Promise<void> {
  const file = localFile(path)
  if (file === undefined) return
  const [dir, job] = [config.checkpoint_job_dir, jobName(config)]
  const size = await lstat(file).then(
    (info) => info.size,
    () => undefined,
  )
  if (size === undefined) return markNewFile(dir, job, file)
  if (size === 0 || isDatabaseUrl(path) || isInside(file, dir) || (await markedFiles(dir, job)).includes(file)) return
  throw new TrinityError('buffer/not-ours', `${file} is there already, and this job has not made it`, {
    path: file,
    hint: 'name another file: this one would be overwritten. If it is of an earlier release of this job, move it into the job folder',
  })
}

function isInside(path: string, dir: string): boolean {
  const way = relative(resolve(dir), path)
  return way !== '' && !way.startsWith('..') && !isAbsolute(way)
}

/** Whether there is anything under this name, even a link to nowhere. */
export function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
