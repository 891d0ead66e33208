import { TrinityError } from '../../base/error.js'
import { isJsonObject } from '../../base/file/json-file.js'
import type { WorkerProcess } from './process.js'

/** How long workers wait for each other. */
const TIMEOUT_KEY = 'trainer.trainer_config.actor_rollout_ref.nccl_timeout'
const AGAIN = 'start the run again: it resumes from the last checkpoint'
const LOG_MS = 50
/** A worker that ended because it could no longer reach another one: see server.py. */
const ALONE_EXIT = 72
/** A worker that gave no sign of life for so long is the cause of what happens to the others. */
const SILENT_MS = 60_000

/** An error of a worker as it stands in an answer. */
export async function answeredError(value: unknown, workers: readonly WorkerProcess[]): Promise<TrinityError> {
  const { code, message, hint, path } = isJsonObject(value) ? value : {}
  const text = (one: unknown) => (typeof one === 'string' ? one : undefined)
  const found = text(code) ?? 'engine/torch'
  // what a worker knows the cause of needs no log
  const logged = ['engine/torch', 'engine/memory', 'engine/device', 'engine/python-package'].includes(found)
  // the log comes by another way than the answer
  if (logged) await new Promise((resolve) => setTimeout(resolve, LOG_MS))
  return new TrinityError(found, text(message) ?? 'the torch worker failed', {
    hint: text(hint),
    path: text(path),
    cause: logged ? logCause(workers) : undefined,
  })
}

/** Why a group of workers is no more, from those of them that ended by themselves. */
export function deathOf(workers: readonly WorkerProcess[]): TrinityError {
  const stopped = silentOf(workers, SILENT_MS)
  if (stopped) return silence(stopped)
  const dead = workers.filter((one) => one.exit !== undefined)
  const told = dead.find((one) => one.failure() !== undefined)
  if (told) {
    const { code, message, hint, path } = told.failure()!
    const text = `${message} (rank ${told.rank}; the torch workers were stopped)`
    return new TrinityError(code, text, { hint, path, cause: logCause([told]) })
  }
  // a rank that was killed comes before those that only lost their connection with it
  const first = (key: 'error' | 'lost' | 'signal') => dead.find(({ exit }) => exit?.[key])
  const one = first('error') ?? first('lost') ?? first('signal') ?? dead.find((each) => !isAlone(each)) ?? dead[0]
  const { error, signal, code, lost } = one.exit!
  if (error) return notStarted(error, one)
  const where = one.node === undefined ? '' : ` on node ${one.node}`
  const how = lost ?? (signal ? `was ended by ${signal}${where}` : `ended with exit code ${code}${where}`)
  const hint =
    signal === 'SIGKILL'
      ? `the system may have run out of main memory (check the kernel log): use a smaller model or less offloading; ${AGAIN}`
      : AGAIN
  return new TrinityError('engine/worker-died', `torch worker ${one.rank} ${how}`, { hint, cause: logCause([one]) })
}

/** Whether all that have ended so far fell over somebody who has not been seen to end. */
export function areAlone(workers: readonly WorkerProcess[]): boolean {
  const dead = workers.filter((one) => one.exit !== undefined)
  return dead.length > 0 && dead.length < workers.length && dead.every(isAlone)
}

function isAlone({ exit }: WorkerProcess): boolean {
  return exit?.code === ALONE_EXIT
}

function notStarted(error: NodeJS.ErrnoException, worker: WorkerProcess): TrinityError {
  return new TrinityError('engine/python', `the torch worker cannot be started: ${error.message}`, {
    hint: 'run: trinity setup torch (or set TRINITY_PYTHON to a Python with torch and transformers)',
    cause: logCause([worker]),
  })
}

/** The worker that has given no sign of life for that long, though it has not ended. */
export function silentOf(workers: readonly WorkerProcess[], ms: number): WorkerProcess | undefined {
  return workers.find(({ exit, pulse }) => exit === undefined && pulse.silentMs >= ms)
}

/** Such a worker. */
export function silence(worker: WorkerProcess): TrinityError {
  const { rank, pid, pulse } = worker
  const message = `torch worker ${rank} gave no sign of life for ${pulse.silentMs / 1000} s; the torch workers were stopped`
  return new TrinityError('engine/worker-hung', message, {
    path: TIMEOUT_KEY,
    hint: `its process ${pid} was stopped (SIGSTOP, a debugger) or waited for a disk; ${AGAIN}`,
    cause: logCause([worker]),
  })
}

/** Past its deadline, cancelled, and still no answer. */
export function hung(what: string, seconds: number, workers: readonly WorkerProcess[]): TrinityError {
  const stopped = silentOf(workers, SILENT_MS)
  if (stopped) return silence(stopped)
  const message = `the torch workers did not answer ${what} within ${seconds} s of being asked to stop, and were killed`
  return new TrinityError('engine/worker-hung', message, { hint: AGAIN, cause: logCause(workers) })
}

/** The last lines of the workers' logs, in the form that error messages show. */
export function logCause(workers: readonly WorkerProcess[]): Error | undefined {
  const lines = workers.flatMap(({ rank, log }) =>
    log.last(workers.length > 1 ? 6 : 12).map((line) => (workers.length > 1 ? `[${rank}] ${line}` : line)),
  )
  return lines.length === 0 ? undefined : new Error(`the worker's last lines:\n    ${lines.join('\n    ')}`)
}
