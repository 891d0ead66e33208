import { access, rm } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { openDatabase } from '../base/database/database.js'
import { isDatabaseUrl, sqlitePath } from '../base/database/names.js'
import { TrinityError } from '../base/error.js'
import { JobLock } from '../checkpoint/lock.js'
import type { Resolved } from '../config/index.js'
import { jobName } from './job-name.js'

/** What starting over would delete: the folders of the stages, and databases of this job that lie elsewhere. */
export async function leftovers({ stages }: Resolved): Promise<string[]> {
  const found = new Set<string>()
  for (const { config, name } of stages) {
    const dir = config.checkpoint_job_dir
    found.add(dir)
    if (name !== null) found.add(join(dirname(dir), 'stage_meta.json'))
    for (const file of databases(config)) if (!isInside(file, dir)) for (const one of withJournals(file)) found.add(one)
  }
  const present = await Promise.all([...found].map(async (path) => ((await exists(path)) ? [path] : [])))
  return present.flat()
}

/** Deletes the work of a job. Refused while a process is at work in it. */
export async function startOver(resolved: Resolved): Promise<string[]> {
  const paths = await leftovers(resolved)
  for (const { config } of resolved.stages) {
    const dir = config.checkpoint_job_dir
    if (!(await exists(dir))) continue
    for (const role of new Set(['trainer', config.explorer.name])) await (await JobLock.take(dir, role)).release()
  }
  await refuseForeign(resolved)
  for (const path of paths) await rm(path, { recursive: true, force: true })
  return paths
}

/** A database that another job has written to stays, and so does everything else. */
async function refuseForeign({ stages }: Resolved): Promise<void> {
  for (const { config } of stages) {
    const own = stages.map((stage) => jobName(stage.config))
    for (const file of databases(config).filter((one) => !isInside(one, config.checkpoint_job_dir))) {
      const owner = await ownerOf(file)
      if (owner === undefined || own.includes(owner)) continue
      throw new TrinityError('cli/fresh', `${file} belongs to job '${owner}': nothing was deleted`, {
        path: file,
        hint: 'give this job a database of its own',
      })
    }
  }
}

async function ownerOf(file: string): Promise<string | undefined> {
  if (!(await exists(file)) || !/\.(db|sqlite3?)$/.test(file)) return undefined
  const db = await openDatabase(`sqlite:///${file}`)
  try {
    const [row] = await db.transaction((tx) => tx.query('SELECT name FROM trinity_job')).catch(() => [])
    return row === undefined ? undefined : String(row.name)
  } finally {
    await db.close()
  }
}

/** SQLite files that hold the experiences of the job. A database on a server is left alone, and said so. */
function databases({ buffer, data_processor }: Resolved['stages'][number]['config']): string[] {
  const main = buffer.trainer_input.experience_buffer
  const own = [
    // a data set that is read is not ours to delete
    main?.schema_type === 'experience' && main.storage_type !== 'file' ? main.path : null,
    data_processor.experience_pipeline.save_input ? data_processor.experience_pipeline.input_save_path : null,
  ]
  return own.flatMap((path) => {
    if (!path) return []
    if (!isDatabaseUrl(path)) return [resolve(path)]
    if (path.startsWith('sqlite')) return [resolve(sqlitePath(path))]
    throw new TrinityError(
      'cli/fresh',
      `the experiences are in a database on a server: ${path.replace(/\/\/.*@/, '//')}`,
      {
        hint: 'empty its tables yourself, then start without --fresh under a new name or after deleting the job folder',
      },
    )
  })
}

function withJournals(file: string): string[] {
  return [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]
}

function isInside(path: string, dir: string): boolean {
  const way = relative(dir, path)
  return way !== '' && !way.startsWith('..') && !isAbsolute(way)
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
