import { messageOf, TrinityError } from '../base/error.js'
import { pluginPlace } from '../plugin/index.js'
import { formatError } from './print.js'

export interface StrayWatch {
  /** Who is told of the first failure; until then the process ends with 1. */
  onFailure: (error: TrinityError) => void
  /** Ends the process for good: `process.exit` is not at hand while a run goes on. */
  exit(code: number): void
  close(): void
}

/**
 * What no call can catch, because it comes too late or from elsewhere: a promise that nobody waits for, an error of a
 * timer or an event, a `process.exit` in somebody else's code. Each is a failure of the run, in its own words.
 */
export function watchStrays(debug = process.argv.includes('--debug')): StrayWatch {
  const { exit } = process
  let isTold = false
  const tell = (error: TrinityError) => {
    if (isTold) return
    isTold = true
    watch.onFailure(error)
  }
  const rejected = (reason: unknown) => tell(stray('a promise that is not awaited failed', reason, AWAIT))
  const thrown = (error: unknown) => tell(stray('an error was not caught', error, CATCH))
  const called = (code?: string | number | null) => {
    const error = new Error(`process.exit(${code ?? ''}) was called`)
    tell(stray('the process was about to exit during the run', error, 'throw an error instead of calling process.exit'))
    throw error
  }
  process.on('unhandledRejection', rejected)
  process.on('uncaughtException', thrown)
  process.exit = called as typeof process.exit
  const watch: StrayWatch = {
    onFailure(error) {
      process.stderr.write(`${formatError(error, debug)}\n`)
      exit.call(process, 1)
    },
    exit: (code) => exit.call(process, code),
    close() {
      process.off('unhandledRejection', rejected)
      process.off('uncaughtException', thrown)
      process.exit = exit
    },
  }
  return watch
}

const AWAIT =
  'await the promise, or catch its failure; with explorer.isolation: thread it fails its own rollout and no other'
const CATCH = "catch it where it happens; an emitter needs a listener for 'error'"

function stray(what: string, cause: unknown, hint: string): TrinityError {
  const path = pluginPlace(cause)
  const where = path === undefined ? '' : ` in the plugin ${path}`
  return new TrinityError('run/stray', `${what}${where}: ${messageOf(cause)}`, { path, hint, cause })
}
