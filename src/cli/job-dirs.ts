import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { loadConfig } from '../config/load.js'

/** The folders of a configuration's runs, one for each stage, whether they are there or not. */
export function jobDirs(config: string, set?: string[]): string[] {
  return loadConfig(config, { set }).stages.map(({ config: stage }) => {
    const { checkpoint_root_dir, project, group, name, continue_from_checkpoint } = stage
    const job = join(resolve(checkpoint_root_dir), project, group, name)
    return continue_from_checkpoint ? job : newest(job)
  })
}

/** A run that must not continue an earlier one gets the time behind its name. */
function newest(job: string): string {
  const [parent, name] = [dirname(job), basename(job)]
  if (!existsSync(parent)) return job
  const others = readdirSync(parent).filter((one) => one.startsWith(`${name}_`) && /^\d{14}$/.test(one.slice(-14)))
  const last = others
    .filter((one) => one.length === name.length + 15)
    .sort()
    .at(-1)
  return last === undefined ? job : join(parent, last)
}
