import { setTimeout as sleep } from 'node:timers/promises'
import type { Program } from './ground.js'

/** Asks a program to end, and ends it where it has not after a while. This process waits for that. */
export async function endProgram(program: Pick<Program, 'leave' | 'kill' | 'exited'>, graceMs: number): Promise<void> {
  program.leave()
  // the other does not keep this process alive: the timer does
  const gone = new AbortController()
  const late = sleep(graceMs, undefined, { signal: gone.signal }).then(() => program.kill())
  await Promise.race([program.exited, late.catch(() => {})])
  gone.abort()
}
