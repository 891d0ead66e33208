import { messageOf } from '../base/error.js'
import { exit } from '../base/exit.js'
import type { Stop } from './stop.js'

/** SIGTERM gives a run this long to finish its step and save; whoever sends it will soon send SIGKILL. */
const TERM_MS = 25_000
/** After a second signal nothing may hold the process up any longer. */
const FORCE_MS = 10_000

export interface StopSignals {
  /** Exit code of a run that was stopped at once: 130 for Ctrl-C, 143 for SIGTERM. */
  readonly code: 1 | 130 | 143
  /** The run has failed outside of every call: like SIGTERM, but it ends with 1. */
  fail(error: unknown): void
  /** Aborts the run, and ends the process if the run does not end within 10 seconds. */
  force(): void
  close(): void
}

/** Ctrl-C once: finish the step, save, end. Twice: end now. SIGTERM: like once, with a deadline. */
export function listenToSignals(stop: Stop, tell: (text: string) => void): StopSignals {
  let code: StopSignals['code'] = 130
  let timer: NodeJS.Timeout | undefined
  const force = () => {
    stop.force()
    timer = setTimeout(() => exit(code), FORCE_MS)
    timer.unref()
  }
  const interrupt = () => {
    if (stop.now.aborted) return exit(code)
    if (stop.gentle.aborted) {
      tell('stopping now')
      force()
      return
    }
    tell('finishing the step and saving; press Ctrl-C again to stop immediately')
    stop.request()
  }
  const terminate = () => {
    code = 143
    tell(`asked to stop: finishing the step and saving, for at most ${TERM_MS / 1000} s`)
    stop.request()
    timer ??= setTimeout(force, TERM_MS)
    timer.unref()
  }
  const fail = (error: unknown) => {
    code = 1
    tell(`${messageOf(error)}; saving what is trained, for at most ${TERM_MS / 1000} s`)
    stop.fail(error)
    timer ??= setTimeout(force, TERM_MS)
    timer.unref()
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', terminate)
  return {
    get code() {
      return code
    },
    fail,
    force,
    close: () => {
      clearTimeout(timer)
      process.off('SIGINT', interrupt)
      process.off('SIGTERM', terminate)
    },
  }
}
