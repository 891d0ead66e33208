import { createHash, randomBytes } from 'node:crypto'
import { link, lstat, readdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { TrinityError } from '../base/error.js'
import { readJsonObject } from '../base/file/json-file.js'
import { makeFolder } from '../base/file/make-folder.js'
import { MARKS } from './layout.js'

/** Says whose a job directory is. Without it nothing in the directory is ever deleted as the job's. */
export interface JobMark {
  readonly job: string
  /** What lay in the directory before the job first started in it. */
  readonly found: readonly string[]
}

const JOB_MARK = 'job.json'
const FILE_MARK = /^file-[0-9a-f]{16}\.json$/
const RUN_MARK = /^run-.+\.json$/

/** Where a process of the job says what it was asked for. */
export const runMark = (kind: string): string => `run-${encodeURIComponent(kind)}.json`
export const isRunMark = (name: string): boolean => RUN_MARK.test(name)

/** Words of people for the job. */
export const TAGS = 'tags.json'

export const isMark = (name: string): boolean =>
  name === JOB_MARK || name === TAGS || FILE_MARK.test(name) || isRunMark(name)

/**
 * Before anything else is written: of two processes that start at once, the first one's mark stays. A folder of another
 * job is refused.
 */
export async function markJob(dir: string, job: string): Promise<void> {
  await makeFolder(dir)
  if (!(await readMark(dir))) {
    const found = (await readdir(dir)).filter((name) => name !== MARKS).sort()
    await putOnce(dir, JOB_MARK, { job, found })
  }
  const owner = (await readMark(dir))?.job ?? job
  if (owner === job) return
  throw new TrinityError('checkpoint/other-job', `${dir} belongs to job '${owner}', this is job '${job}'`, {
    path: dir,
    hint: `give this run another name; if the job has a new name, write that into ${join(dir, MARKS, JOB_MARK)}`,
  })
}

/** Takes note that this job makes a file, wherever it lies; of one that is there already it does not. */
export async function markNewFile(dir: string, job: string, file: string): Promise<void> {
  const path = resolve(file)
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  )
  if (isThere) return
  const name = `file-${createHash('sha256').update(path).digest('hex').slice(0, 16)}.json`
  await putOnce(dir, name, { job, path })
}

export async function readMark(dir: string): Promise<JobMark | undefined> {
  const mark = await readPlain(dir, JOB_MARK)
  if (typeof mark?.job !== 'string' || !Array.isArray(mark.found)) return undefined
  return { job: mark.job, found: mark.found.map(String) }
}

/** Files that this job has made. */
export async function markedFiles(dir: string, job: string): Promise<string[]> {
  if (!(await isFolder(join(dir, MARKS)))) return []
  const names = (await readdir(join(dir, MARKS))).filter((name) => FILE_MARK.test(name))
  const marks = await Promise.all(names.map((name) => readPlain(dir, name)))
  return marks.flatMap((mark) => (mark?.job === job && typeof mark.path === 'string' ? [mark.path] : []))
}

/** A mark behind a link is nobody's. */
async function readPlain(dir: string, name: string) {
  const path = join(dir, MARKS, name)
  if (!(await isFolder(join(dir, MARKS)))) return undefined
  const info = await lstat(path).catch(() => undefined)
  return info?.isFile() ? readJsonObject(path).catch(() => undefined) : undefined
}

async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (info) => info.isDirectory(),
    () => false,
  )
}

async function putOnce(dir: string, name: string, value: unknown): Promise<void> {
  const path = join(dir, MARKS, name)
  await makeFolder(join(dir, MARKS))
  const beside = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`
  await writeFile(beside, `${JSON.stringify(value, null, 2)}\n`, { flag: 'wx', flush: true })
  try {
    await link(beside, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(beside, { force: true })
  }
}
