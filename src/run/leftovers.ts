import { lstat, readdir } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { TrinityError } from '../base/error.js'
import { markedFiles, readMark } from '../checkpoint/job-mark.js'
import { isStepName } from '../checkpoint/layout.js'
import type { Config, Resolved } from '../config/index.js'
import { type Evidence, evidenceOf } from './evidence.js'
import { type Inventory, isPlainFile, plainFiles, takeInventory, withJournals } from './inventory.js'
import { jobName } from './job-name.js'
import { isJobFile, rolesIn } from './known-files.js'
import { experienceFiles, isThere } from './outside.js'
import { realFolder } from './real-folder.js'
import { isStageMeta, stageMetaPath } from './stage-meta.js'

/** What an earlier run has left, and what of it may go. */
export interface Leftovers extends Inventory {
  /** What a person is told: a folder or a file, with the number and size of the files that go. */
  readonly places: { readonly path: string; readonly files: number; readonly bytes: number }[]
}

/** Looks at everything before anything is deleted. Throws where something is in the way that is not ours. */
export async function leftovers({ stages }: Resolved): Promise<Leftovers> {
  const all: Leftovers = { ours: [], folders: [], kept: [], blocked: [], places: [] }
  const jobs = stages.map(({ config }) => jobName(config))
  const dirs = stages.map(({ config }) => config.checkpoint_job_dir)
  const marked = new Set((await Promise.all(dirs.map((dir, i) => markedFiles(dir, jobs[i])))).flat())
  const owners = await Promise.all(dirs.map(async (dir, i) => ({ job: jobs[i], folder: await realFolder(dir) })))
  const evidence = async (file: string): Promise<Evidence> =>
    (await isThere(file)) ? evidenceOf(file, owners, marked.has(file)) : { ours: false, why: 'it is not there' }
  for (const { config } of stages) await add(all, config.checkpoint_job_dir, await inventoryOf(config, evidence))
  for (const file of new Set(stages.flatMap(({ config }) => experienceFiles(config)))) {
    if (!(await isThere(file)) || all.ours.includes(file)) continue
    const found = await evidence(file)
    if (!found.ours) all.blocked.push({ path: file, why: found.why })
    else await add(all, file, { ours: await plainFiles(withJournals(file)) })
  }
  if (stages[0].name !== null) await addStageMeta(all, stages)
  refuse(all)
  return all
}

async function add(all: Leftovers, path: string, part: Partial<Inventory>): Promise<void> {
  const { ours = [], folders = [], kept = [], blocked = [] } = part
  const sizes = await Promise.all(
    ours.map((one) =>
      lstat(one).then(
        (info) => info.size,
        () => 0,
      ),
    ),
  )
  if (ours.length > 0) {
    all.places.push({ path, files: ours.length, bytes: sizes.reduce((sum, one) => sum + one, 0) })
  }
  // marks of the job directory come last, behind the files outside that they speak for
  all.ours.push(...ours)
  all.folders.push(...folders)
  all.kept.push(...kept)
  all.blocked.push(...blocked)
}

async function inventoryOf(config: Config, evidence: (file: string) => Promise<Evidence>): Promise<Partial<Inventory>> {
  const dir = config.checkpoint_job_dir
  await refuseLinks(config.checkpoint_root_dir, dir)
  if (!(await isThere(dir))) return {}
  const mark = await readMark(dir)
  if (mark?.job === jobName(config)) return takeInventory({ config, mark, evidence })
  const hint = `look at it, and delete it by hand if it is not needed: rm -r ${JSON.stringify(dir)}`
  if (mark) {
    throw new TrinityError('cli/fresh', `${dir} belongs to job '${mark.job}': nothing was deleted`, { path: dir, hint })
  }
  const names = await readdir(dir)
  const roles = rolesIn(names, [config.explorer.name, config.trainer.name])
  // a folder with nothing of a run in it is somebody's, and in nobody's way
  if (!names.some((name) => isStepName(name) || isJobFile(name, roles)))
    return { kept: names.map((name) => join(dir, name)) }
  throw new TrinityError(
    'cli/fresh',
    `${dir} holds a run, but nothing says that it is this job's (older releases set no mark): nothing was deleted`,
    { path: dir, hint },
  )
}

/** A link on the way would lead the deletion to another place. */
async function refuseLinks(root: string, dir: string): Promise<void> {
  let path = root
  for (const part of relative(root, dir).split(sep)) {
    path = join(path, part)
    const info = await lstat(path).catch(() => undefined)
    if (info === undefined) return
    if (info.isDirectory()) continue
    const what = info.isSymbolicLink() ? 'a link, which is not followed' : 'no folder'
    throw new TrinityError('cli/fresh', `${path} is ${what}: nothing was deleted`, {
      path,
      hint: 'delete its target by hand, or set checkpoint_root_dir to the real folder',
    })
  }
}

async function addStageMeta(all: Leftovers, stages: Resolved['stages']): Promise<void> {
  const path = stageMetaPath(stages)
  if (!(await isPlainFile(path))) return
  if (await isStageMeta(path, stages)) await add(all, path, { ours: [path], folders: [dirname(path)] })
  else all.kept.push(path)
}

function refuse({ blocked }: Leftovers): void {
  if (blocked.length === 0) return
  const list = blocked.slice(0, 20).map(({ path, why }) => `  ${path}: ${why}`)
  if (blocked.length > 20) list.push(`  and ${blocked.length - 20} more`)
  throw new TrinityError('cli/fresh', `nothing was deleted, because not everything is this job's\n${list.join('\n')}`, {
    path: blocked[0].path,
    hint: 'move it away or delete it by hand, or give this run its own name and files',
  })
}
