import { spawnSync } from 'node:child_process'

/** Whether a process runs; one that has ended and that nobody reaped does not. */
export function runs(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.startsWith('Z')
}
