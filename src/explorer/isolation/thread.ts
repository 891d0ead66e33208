import { Worker } from 'node:worker_threads'
import type { Channel } from './protocol.js'

/** A worker that is a thread of this process. */
export function openThread(memoryMb: number): Channel {
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    execArgv: [],
  })
  worker.unref()
  let reason: string | undefined
  return {
    post: (message) => worker.postMessage(message),
    onMessage: (hear) => void worker.on('message', hear),
    onEnd(hear) {
      worker.on('error', (error: NodeJS.ErrnoException) => {
        reason = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? `it took more than ${memoryMb} MB` : error.message
      })
      worker.on('exit', (code) => hear(reason ?? `it ended with code ${code}`))
    },
    hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()),
    kill: () => void worker.terminate(),
  }
}
