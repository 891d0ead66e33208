import type { Config } from '../config/index.js'

/** What tells the data of this job from that of others. */
export function jobName({ project, group, name }: Config): string {
  return [project, group, name].filter((part) => part !== '').join('/')
}
