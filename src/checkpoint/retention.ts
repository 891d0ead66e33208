import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from './durable.js'
import { asideName, besideName, MANIFEST, stepName, stepsOnDisk, strayFolders } from './layout.js'
import { isForeign, isOwn } from './owned.js'

/** A sampler may still be reading the weights before the newest. */
const WEIGHTS_KEPT = 2

/** Full checkpoints on disk, whoever wrote them, newest first. Cheap: their files are not looked at. */
export async function fullSteps(dir: string): Promise<number[]> {
  const steps = await stepsOnDisk(dir)
  const full = await Promise.all(steps.map((step) => exists(join(dir, stepName(step), MANIFEST))))
  return steps.filter((_, i) => full[i])
}

/**
 * Deletes the oldest full checkpoints until `keep` are left (0: all are kept), and weights that were written for a
 * transfer only. What is in `never` stays: the newest, and the best by evaluation. What is not the job's own stays too.
 */
export async function prune(dir: string, keep: number, never: readonly number[]): Promise<number[]> {
  const full = await fullSteps(dir)
  const weights = await owned(
    dir,
    (await stepsOnDisk(dir)).filter((step) => !full.includes(step)),
  )
  const old = keep > 0 ? full.slice(keep).filter((step) => !never.includes(step)) : []
  const removed = [...weights.slice(WEIGHTS_KEPT), ...(await owned(dir, old))]
  for (const step of removed) await discard(dir, stepName(step))
  return removed
}

async function owned(dir: string, steps: readonly number[]): Promise<number[]> {
  const own = await Promise.all(steps.map((step) => isOwn(dir, stepName(step))))
  return steps.filter((_, i) => own[i])
}

/** A folder that is being deleted has another name, so that nobody takes a part of it for the whole. */
export async function discard(dir: string, name: string): Promise<void> {
  const away = join(dir, besideName(name, 'tmp'))
  await rename(join(dir, name), away)
  await rm(away, { recursive: true, force: true })
}

/** Makes room without deleting anything; gives the new place. */
export async function setAside(dir: string, name: string, kind: 'damaged' | 'aside'): Promise<string> {
  const away = join(dir, asideName(name, kind))
  await rename(join(dir, name), away)
  return away
}

/** Removes what a killed process left half-done. A folder that it had only moved out of the way comes back. */
export async function cleanUp(dir: string): Promise<void> {
  for (const { name, of, kind } of await strayFolders(dir)) {
    const path = join(dir, name)
    // only our own folders get such names; one that was half deleted no longer says what was in it
    if (await isForeign(dir, name)) continue
    if (kind === 'old' && !(await exists(join(dir, of)))) await rename(path, join(dir, of))
    else await rm(path, { recursive: true, force: true })
  }
}
