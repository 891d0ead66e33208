import { realpath } from 'node:fs/promises'
import { TrinityError } from '../../base/error.js'
import type { Resolved } from '../../config/index.js'
import { startOver } from '../../run/fresh.js'
import { type Leftovers, leftovers } from '../../run/leftovers.js'
import { readRecords } from '../../run/record.js'
import type { Deletion } from '../api.js'
import type { FoundRun } from '../run/find.js'
import { workersOf } from '../run/workers.js'
import { isBelow, outside } from './place.js'

/** What would go with a run, and what would stay because it is not the run's. */
export async function deletionOf(run: FoundRun): Promise<Deletion> {
  return toldOf(await leftoversOf(run, await resolvedOf(run)))
}

/** Deletes the files that a run has written, as `run --fresh` does, and nothing else. */
export async function deleteRun(run: FoundRun): Promise<Deletion> {
  const resolved = await resolvedOf(run)
  await leftoversOf(run, resolved)
  return toldOf(await startOver(resolved))
}

/** The job as it was asked for, which says what its files are. */
async function resolvedOf({ path }: FoundRun): Promise<Resolved> {
  const [holder] = await workersOf(path)
  if (holder) {
    throw new TrinityError(
      'studio/running',
      `${holder.role} (process ${holder.pid} on ${holder.host}) is at work in it`,
      {
        path,
        hint: 'stop the run first',
      },
    )
  }
  const [record] = await readRecords(path)
  const isHere = record && (await realpath(record.config.checkpoint_job_dir).catch(() => undefined)) === path
  if (isHere) return { file: path, stages: [{ name: null, config: record.config, startsFrom: null }], remarks: [] }
  const why = record ? 'the folder was moved since' : 'an earlier release has made it'
  throw new TrinityError('studio/unknown-files', `nothing says which files of ${path} are the run's: ${why}`, {
    path,
    hint: 'look at it, and delete the folder by hand',
  })
}

/** A run may keep experiences anywhere: those that Studio does not show are not Studio's to delete. */
async function leftoversOf({ root }: FoundRun, resolved: Resolved): Promise<Leftovers> {
  const found = await leftovers(resolved)
  // helpers of a database come and go while somebody looks at it: what is gone by now is asked for its place alone
  for (const file of found.ours) if (!(await isBelow([root], file))) throw outside(file)
  return found
}

function toldOf({ places, kept }: Leftovers): Deletion {
  const sum = (of: (place: Leftovers['places'][number]) => number) => places.reduce((all, one) => all + of(one), 0)
  return { files: sum(({ files }) => files), bytes: sum(({ bytes }) => bytes), kept }
}
