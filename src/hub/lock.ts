import { open, rm, stat, utimes } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const HEARTBEAT_MS = 5_000
const STALE_MS = 30_000

/**
 * Runs `work` while holding the lock file, so that two processes that start together do not download the same file
 * twice. The holder touches the file; one that nobody touches any more belonged to a process that died.
 */
export async function withLock<T>(path: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let wait = 50; ; wait = Math.min(1000, wait * 2)) {
    signal?.throwIfAborted()
    const handle = await open(path, 'wx').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return undefined
      throw error
    })
    if (handle) {
      await handle.close()
      break
    }
    const held = await stat(path).catch(() => undefined)
    if (held && Date.now() - held.mtimeMs > STALE_MS) await rm(path, { force: true })
    else await sleep(wait, undefined, { signal })
  }
  const beat = setInterval(() => {
    const now = new Date()
    utimes(path, now, now).catch(() => undefined)
  }, HEARTBEAT_MS)
  beat.unref()
  try {
    return await work()
  } finally {
    clearInterval(beat)
    await rm(path, { force: true })
  }
}
