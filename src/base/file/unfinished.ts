import { rmSync } from 'node:fs'
import { exit } from '../exit.js'

const unfinished = new Set<string>()
const ends = new Map<NodeJS.Signals, () => void>([
  ['SIGINT', () => leave('SIGINT', 130)],
  ['SIGTERM', () => leave('SIGTERM', 143)],
])

/**
 * What `work` writes at `path` goes away if the process is asked to end before it is done: nobody can use the part that is there.
 * Whoever else listens for that decides how the process ends; then nothing is done here.
 */
export async function unlessInterrupted<T>(path: string, work: () => Promise<T>): Promise<T> {
  // before others: those who listen once are gone from the list when they have heard it
  if (unfinished.size === 0) for (const [signal, end] of ends) process.prependListener(signal, end)
  unfinished.add(path)
  try {
    return await work()
  } finally {
    unfinished.delete(path)
    if (unfinished.size === 0) for (const [signal, end] of ends) process.off(signal, end)
  }
}

function leave(signal: string, code: number): void {
  if (process.listenerCount(signal) > 1) return
  for (const path of unfinished) rmSync(path, { recursive: true, force: true })
  exit(code)
}
