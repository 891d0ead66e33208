import type { Config } from '../config/index.js'

/** Steps after which the explorer stops, has everything finished, and lets new weights come. */
export function isSyncPoint(step: number, { synchronizer }: Pick<Config, 'synchronizer'>): boolean {
  const { sync_style, sync_offset, sync_interval, explorer_sync_interval } = synchronizer
  if (sync_style === 'fully_async' || step <= sync_offset) return false
  return (step - sync_offset) % (explorer_sync_interval ?? sync_interval) === 0
}
