import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Names inside a job directory. */
export const LATEST_FULL = 'latest_checkpointed_iteration.txt'
export const LATEST_WEIGHTS = 'latest_state_dict_iteration.txt'
export const MANIFEST = '.full_checkpoint'
export const STATE = 'run_state.json'
export const JOB = 'job.json'
export const BEST_EVAL = 'best_eval.json'
/** Beside weights that are no full checkpoint: the files that were written. */
export const WRITTEN = '.written.json'
/** Folder with what says whose the job directory is. */
export const MARKS = '.trinity'
/** Folder of the evaluations of mode bench. */
export const BENCH = 'bench'
/** In that folder: the numbers of every task set. */
export const BENCH_RESULTS = 'results.json'

export const metaName = (name: string): string => `${name}_meta.json`

/** Where agents find the server of an explorer (mode serve). */
export const urlName = (explorer: string): string => `${explorer}_server_url.txt`

export const stepName = (step: number): string => `global_step_${step}`

/** Where the weights of a step lie for any loader of Hugging Face models. */
export const WEIGHTS = 'actor/huggingface'
export const weightsPath = (stepDir: string): string => join(stepDir, WEIGHTS)

const STEP = /^global_step_(\d+)$/
/** Exactly the names that `besideName` makes; earlier releases left the number of the process out where they deleted. */
const LEFTOVER = /^(global_step_\d+)\.(tmp|old)-(?:\d+-)?[0-9a-f]{8}$/
const DAMAGED = /^global_step_\d+\.damaged-[0-9a-f]{8}$/

/** A name that nobody else takes: for a folder that is half-written or on its way out (`tmp`), or being replaced (`old`). */
export const besideName = (name: string, kind: 'tmp' | 'old'): string => `${name}.${kind}-${process.pid}-${unique()}`

/** Where a folder is kept that may not stay in its place: a checkpoint that is damaged, or one that is not ours. */
export const asideName = (name: string, kind: 'damaged' | 'aside'): string => `${name}.${kind}-${unique()}`

const unique = (): string => randomBytes(4).toString('hex')

/** Whether a name is that of a checkpoint, whole, half-written or on its way out. */
export const isStepName = (name: string): boolean => STEP.test(name) || LEFTOVER.test(name)

/** Whether a name is that of a damaged checkpoint which was kept when a run went back behind it. */
export const isDamagedName = (name: string): boolean => DAMAGED.test(name)

/** Name of a file before `asideName` marked it as damaged, or the name itself. */
export const nameBeforeDamage = (name: string): string => name.replace(/\.damaged-[0-9a-f]{8}$/, '')

/** A folder under a name of its own, which nobody but us writes to. */
export const isHalfDone = (name: string): boolean => LEFTOVER.exec(name)?.[2] === 'tmp'

/** Steps that have a folder, newest first. */
export async function stepsOnDisk(dir: string): Promise<number[]> {
  const names = await namesIn(dir)
  const steps = names.flatMap((name) => STEP.exec(name)?.[1] ?? []).map(Number)
  return steps.sort((a, b) => b - a)
}

/** Folders that a killed process left behind: half-written ones, and ones that were being replaced. */
export async function strayFolders(dir: string): Promise<{ name: string; of: string; kind: 'tmp' | 'old' }[]> {
  const names = await namesIn(dir)
  return names.flatMap((name) => {
    const match = LEFTOVER.exec(name)
    return match ? [{ name, of: match[1], kind: match[2] as 'tmp' | 'old' }] : []
  })
}

async function namesIn(dir: string): Promise<string[]> {
  return readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
}
