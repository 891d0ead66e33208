import type { Config } from '../config/index.js'
import { explorerDue, scheduleOf } from '../synchronizer/schedule.js'

/** Steps after which the explorer stops, has everything finished, and lets new weights come. */
export function isSyncPoint(step: number, config: Pick<Config, 'synchronizer'>): boolean {
  return explorerDue(scheduleOf(config), step)
}
