import { hostname } from 'node:os'
import { type LockHolder, lockHolders } from '../../checkpoint/lock.js'
import { type RunRecord, readRecords } from '../../run/record.js'

/** Whether a folder has seen nothing but evaluations of a model. */
export const isBench = (records: readonly RunRecord[]) =>
  records.length > 0 && records.every(({ config }) => config.mode === 'bench')

/** Who is at work in a run: whoever has a lock. An evaluation takes none; its record says which process it is. */
export async function workersOf(dir: string): Promise<LockHolder[]> {
  const holders = await lockHolders(dir)
  const records = holders.length > 0 ? [] : await readRecords(dir)
  if (!isBench(records)) return holders
  const { pid, host, end } = records[0]
  return end === undefined && host === hostname() && isThere(pid) ? [{ role: 'bench', pid, host }] : []
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
