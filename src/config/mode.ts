import type { Config } from './section/config.js'

/** Whether a run of this mode changes weights. */
export function trainsIn(mode: Config['mode']): boolean {
  return mode === 'both' || mode === 'train' || mode === 'colocate'
}
