import { existsSync } from 'node:fs'
import { TrinityError } from '../base/error.js'
import { jobDirs } from './job-dirs.js'

/** The model that a user names: a directory, the folder of a run, a configuration (its last stage that has run), or an id. */
export async function modelOf(
  name: string,
  { set, note }: { set?: string[]; note: (text: string) => void },
): Promise<string> {
  const { whichModel } = await import('../chat/index.js')
  if (!isConfiguration(name)) return whichModel(name, note)
  const dirs = jobDirs(name, set)
  const there = dirs.findLast((dir) => existsSync(dir))
  if (there) return whichModel(there, note)
  throw new TrinityError('model/none', `the run of ${name} has left nothing in ${dirs.at(-1)}`, {
    path: name,
    hint: 'run it first, or check the current folder and --set',
  })
}

/** `--set` says how a run was started: without a configuration it would change nothing. */
export function checkSet(names: readonly string[], set: readonly string[] | undefined): void {
  if (set === undefined || names.some(isConfiguration)) return
  throw new TrinityError('cli/usage', `--set has no effect on ${names.join(' and ')}`, {
    path: '--set',
    hint: 'give the YAML configuration of the run instead of a folder, or leave out --set',
  })
}

function isConfiguration(name: string): boolean {
  return /\.ya?ml$/.test(name)
}
