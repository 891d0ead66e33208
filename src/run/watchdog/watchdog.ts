import inspector from 'node:inspector'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { TrinityError } from '../../base/error.js'
import { pluginFolders } from '../../plugin/index.js'
import { BEAT_MS } from './pulse.js'
import { blockedError, busyNote } from './report.js'
import type { ThreadData, Told } from './thread.js'

/** The thread ends within milliseconds; it may still have to start, on a machine that is busy. */
const END_MS = 5000

export interface WatchdogOptions {
  /** How long the event loop may stand still in a user's code. */
  readonly limitMs: number
  /** Its loop was broken: other work of this process may be lost, so the run has to end. */
  readonly onBlocked: (error: TrinityError) => void
  readonly note: (text: string) => void
}

/**
 * Watches the event loop from a thread of its own. Code of a user that never gives it back is broken at the limit, with
 * its place; work of our own, however long, and a process that sleeps or is debugged are left alone.
 */
export function watchEventLoop({ limitMs, onBlocked, note }: WatchdogOptions): { close(): Promise<void> } {
  // from source, under a test runner, there is no file that a thread could load
  if (import.meta.url.endsWith('.ts')) return { async close() {} }
  const shared = new Int32Array(new SharedArrayBuffer(8))
  const beat = setInterval(() => {
    Atomics.add(shared, 0, 1)
    Atomics.store(shared, 1, inspector.url() === undefined ? 0 : 1)
  }, BEAT_MS)
  beat.unref()
  const own = fileURLToPath(new URL('../../', import.meta.url))
  const workerData: ThreadData = { shared, limitMs, files: { own, plugins: pluginFolders() } }
  const thread = new Worker(new URL('./thread.js', import.meta.url), { workerData, execArgv: [] })
  thread.on('message', (told: Told) => (told.kind === 'blocked' ? onBlocked(blockedError(told)) : note(busyNote(told))))
  thread.on('error', (error) => note(`nobody watches the event loop: ${error.message}`))
  const ended = new Promise((resolve) => thread.once('exit', resolve))
  thread.unref()
  return {
    /** The thread ends by itself. Node may crash where one is ended from outside while it still loads its files. */
    async close() {
      clearInterval(beat)
      const late = setTimeout(() => thread.terminate(), END_MS)
      thread.ref()
      thread.postMessage('close')
      await ended
      clearTimeout(late)
    },
  }
}
