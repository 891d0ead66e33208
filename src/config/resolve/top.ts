import { isAbsolute, join, resolve } from 'node:path'
import { wallClock } from '../../base/wall-clock.js'
import type { Config } from '../section/config.js'
import type { Scope } from './scope.js'

type Top = Pick<
  Config,
  'checkpoint_root_dir' | 'checkpoint_job_dir' | 'name' | 'ray_namespace' | 'continue_from_checkpoint'
>

/** Folder and names of the run. */
export function resolveTop(config: Config, scope: Scope): Top {
  const { cwd } = scope.facts
  const root = isAbsolute(config.checkpoint_root_dir)
    ? config.checkpoint_root_dir
    : resolve(cwd, config.checkpoint_root_dir)
  const dirOf = (name: string) => join(root, config.project, config.group, name)
  const goOn = config.continue_from_checkpoint || config.mode === 'bench'
  const fresh = goOn || scope.facts.isEmptyDir(dirOf(config.name))
  const name = fresh ? config.name : `${config.name}_${wallClock(scope.facts.now)}`
  if (!fresh) scope.note('renamed', 'name', `${dirOf(config.name)} is not empty: the run is called ${name}`)
  const parts = [config.project, config.group, name]
  return {
    checkpoint_root_dir: root,
    checkpoint_job_dir: dirOf(name),
    name,
    ray_namespace: config.ray_namespace || parts.filter((part) => part !== '').join('/'),
    continue_from_checkpoint: goOn,
  }
}
