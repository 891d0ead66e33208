/** What a worker runs: a thread, or a process. */

import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { TrinityError } from '../../base/error.js'
import type { FromWorker, Port, ToWorker } from './protocol.js'
import { serveRollouts } from './serve.js'
import { toWireError } from './wire-error.js'

const port: Port<FromWorker, ToWorker> = isMainThread
  ? {
      post: (message) => void process.send?.(message),
      onMessage: (hear) => void process.on('message', hear),
    }
  : {
      post: (message) => parentPort?.postMessage(message),
      onMessage: (hear) => void parentPort?.on('message', hear),
    }

if (isMainThread) {
  // Ctrl-C in a terminal reaches this process too, but it is the explorer that decides.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  const { exit } = process
  process.on('disconnect', () => exit.call(process, 0))
  // a loop does not hear that the explorer is gone; a thread beside it does
  const look = `setInterval(() => process.ppid === ${process.ppid} || process.kill(process.pid, 'SIGKILL'), 1000)`
  new Worker(look, { eval: true, execArgv: [] }).unref()
}

const fatal = (error: unknown) => port.post({ kind: 'fatal', error: toWireError(error) })
process.on('uncaughtException', fatal)
process.on('unhandledRejection', fatal)
process.exit = ((code?: string | number | null) => {
  const error = new TrinityError('workflow/exit', `process.exit(${code ?? ''}) was called in a workflow`, {
    hint: 'throw an error instead',
  })
  fatal(error)
  throw error
}) as typeof process.exit

serveRollouts(port, async (dirs) => {
  if (dirs.length === 0) return
  // by address: the entry knows all public exports, which plugins get, and nothing of them is needed here
  const entry = await import(new URL('../../plugin.js', import.meta.url).href)
  await entry.loadPlugins(dirs)
})
