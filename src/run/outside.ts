import { lstat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { openDatabase } from '../base/database/database.js'
import { isDatabaseUrl, sqlitePath } from '../base/database/names.js'
import { TrinityError } from '../base/error.js'
import { looksLikeUrl, redactValue, withoutPassword } from '../base/secret/index.js'
import { claimJob } from '../buffer/sql/job.js'
import { markedFiles, markNewFile } from '../checkpoint/job-mark.js'
import type { Config } from '../config/index.js'
import { jobName } from './job-name.js'
import { isInside, realFolder } from './real-folder.js'

/** Files that hold the experiences of a job, wherever they lie. A database on a server is left alone, and said so. */
export function experienceFiles({ buffer, data_processor, explorer, mode }: Config): string[] {
  const main = buffer.trainer_input.experience_buffer
  const own = [
    // a data set that is read is not ours to delete
    main?.schema_type === 'experience' && main.storage_type !== 'file' ? main.path : null,
    data_processor.experience_pipeline.save_input ? data_processor.experience_pipeline.input_save_path : null,
    mode === 'serve' ? explorer.db_url : null,
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
  if (isDatabaseUrl(path)) return /^sqlite/i.test(path) ? resolve(sqlitePath(path)) : undefined
  if (!looksLikeUrl(path)) return resolve(path)
  const shown = redactValue(path)
  throw new TrinityError('buffer/url', `'${shown}' is neither the path of a file nor a URL of a database`, {
    path: shown,
    hint: 'write sqlite:///relative/file.db, postgresql://user@host/database, or ./ before the name of a file',
  })
}

/**
 * Makes a file or database of experiences this job's own before it is opened: one that is new is noted as made by this
 * job, and one that somebody else has made is refused, because a job cuts its files back to where its last checkpoint
 * was.
 */
export async function claimFile(config: Config, path: string): Promise<void> {
  const file = localFile(path)
  const [dir, job] = [config.checkpoint_job_dir, jobName(config)]
  const info = file === undefined ? undefined : await lstat(file).catch(() => undefined)
  if (file !== undefined && !info) await markNewFile(dir, job, file)
  if (isDatabaseUrl(path)) return claimDatabase(path, file, dir, job)
  if (file === undefined || !info || (await markedFiles(dir, job)).includes(file)) return
  if (info.isSymbolicLink()) throw notOurs(file, 'it is a link')
  if (info.isFile() && info.nlink > 1) throw notOurs(file, 'it has other names (hard links)')
  if (info.size > 0 && !isInside(file, dir)) throw notOurs(file)
}

/** A database says itself whose it is. */
async function claimDatabase(url: string, file: string | undefined, dir: string, job: string): Promise<void> {
  const folder = await realFolder(dir)
  const inside = file !== undefined && isInside(await realFolder(file), folder)
  const db = await openDatabase(url)
  try {
    await claimJob(db, job, { folder, inside })
  } finally {
    await db.close()
  }
}

function notOurs(file: string, why = ''): TrinityError {
  const text = `${file} already exists, and this job did not create it${why && `: ${why}`}`
  return new TrinityError('buffer/not-ours', text, {
    path: file,
    hint: 'name another file: this one would be overwritten. If it is from an earlier release of this job, move it into the job folder',
  })
}

/** Whether there is anything under this name, even a link to nowhere. */
export function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
