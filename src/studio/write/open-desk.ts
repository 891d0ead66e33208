import { fileURLToPath } from 'node:url'
import { Child } from '../child/child.js'
import type { Worker } from '../child/message.js'

const IDLE_MS = 600_000

/** What checks, in a process of its own: a check may look for Python, and reads the data that a text names. */
export function openDesk(pluginDirs: readonly string[]): Worker {
  const file = fileURLToPath(new URL('./desk-process.js', import.meta.url))
  return new Child({ file, args: pluginDirs, name: 'the checker', idleMs: IDLE_MS })
}
