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

export const metaName = (name: string): string => `${name}_meta.json`

export const stepName = (step: number): string => `global_step_${step}`

/** Where the weights of a step lie for any loader of Hugging Face models. */
export const weightsPath = (stepDir: string): string => join(stepDir, 'actor', 'huggingface')

const STEP = /^global_step_(\d+)$/
const LEFTOVER = /^(global_step_\d+)\.(tmp|old)-/

/** Whether a name is that of a checkpoint, whole, half-written or on its way out. */
export const isStepName = (name: string): boolean => STEP.test(name) || LEFTOVER.test(name)

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
