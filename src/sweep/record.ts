import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { writeJsonFile } from '../base/file/atomic-file.js'
import { readSummary, type Warn } from '../checkpoint/summary.js'
import { changed, type Settings, settingsOf } from '../run/changed.js'
import type { PlannedRun, SweepPlan } from './plan.js'

const RECORD = 'sweep.json'
/** How long a run goes on may change: it resumes, or is finished. A key that was not there is of a later release. */
const ALLOWED = /^\S+\.total_(steps|epochs|tokens):|: unset →/
const MOST = 5

/**
 * Records the settings of every run of a sweep in `sweep.json`. Throws if a run that exists was begun with other settings,
 * because a sweep that is started again continues its runs. A damaged file is set aside with a warning.
 */
export async function recordSweep({ dir, runs }: SweepPlan, isFresh: boolean, warn?: Warn): Promise<void> {
  const path = join(dir, RECORD)
  const known = ((await readSummary(path, warn))?.runs ?? {}) as Record<string, { settings?: Settings }>
  for (const run of runs) {
    const before = known[run.id]?.settings
    if (!isFresh && before !== undefined && existsSync(run.dir)) checkSame(run, before, dir)
  }
  const asked = runs.map(({ id, file, arm, seed, config }) => [id, { file, arm, seed, settings: settingsOf(config) }])
  await writeJsonFile(path, { runs: { ...known, ...Object.fromEntries(asked) } })
}

function checkSame({ id, config }: PlannedRun, before: Settings, dir: string): void {
  // as it comes back from the file
  const now = JSON.parse(JSON.stringify(settingsOf(config))) as Settings
  const others = changed(before, now).filter((text) => !ALLOWED.test(text))
  if (others.length === 0) return
  const more = others.length > MOST ? ` and ${others.length - MOST} more` : ''
  throw new TrinityError(
    'config/sweep',
    `${id} was begun with other values: ${others.slice(0, MOST).join(', ')}${more}`,
    {
      path: dir,
      hint: 'give the sweep another name, set them back, or start over with --fresh --yes',
    },
  )
}
