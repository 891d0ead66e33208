import { messageOf, TrinityError } from '../base/error.js'
import { exit, watchExit } from '../base/exit.js'
import { pluginFolders, pluginPlace } from '../plugin/place.js'
import { formatError } from './print.js'

type Listener = (error: TrinityError) => void

/**
 * What no call can catch, because it comes too late or from elsewhere: a promise that nobody waits for, an error of a
 * timer or an event, a `process.exit` in somebody else's code. Each is a failure of the command, in its own words; when
 * the command is done, it changes nothing any more: an error is a note, and an exit ends the process.
 */
class Strays {
  #onFailure: Listener = endWith
  #isTold = false
  #isOver = false

  /** From now on, until the process ends. */
  watch(): void {
    process.on('unhandledRejection', (reason) =>
      this.tell(stray('a promise that is not awaited failed', reason, AWAIT)),
    )
    process.on('uncaughtException', (error) => this.tell(stray('an error was not caught', error, CATCH)))
    watchExit((code) => {
      // with the code of the command, whatever this one is
      if (this.#isOver) return exit()
      const error = new Error(`process.exit(${code ?? ''}) was called`)
      this.tell(stray('the process was about to exit before the command was done', error, THROW))
      throw error
    })
  }

  /** The first one counts: others follow from it. */
  tell(error: TrinityError): void {
    if (this.#isTold) return
    this.#isTold = true
    this.#onFailure(error)
  }

  /** A failure of the command itself, which is none the less when it comes after the end. */
  fail(error: TrinityError): void {
    if (this.#isOver) endWith(error)
    else this.tell(error)
  }

  /** Who is told, for as long as somebody can do better than to end the process with 1. Gives a way back. */
  tellTo(listener: Listener): () => void {
    const before = this.#onFailure
    this.#onFailure = listener
    return () => {
      this.#onFailure = before
    }
  }

  /** The command is done, and how it went is settled. */
  over(): void {
    this.#isOver = true
    this.#onFailure = (error) => void process.stderr.write(`note: after the end: ${error.message}\n`)
  }
}

/** Those of this process. */
export const strays = new Strays()

function endWith(error: TrinityError): void {
  process.stderr.write(`${formatError(error, process.argv.includes('--debug'))}\n`)
  exit(1)
}

const AWAIT =
  'await the promise, or catch its failure; with explorer.isolation: thread it fails its own rollout and no other'
const CATCH = "catch it where it happens; an emitter needs a listener for 'error'"
const THROW = 'throw an error instead of calling process.exit'

function stray(what: string, cause: unknown, fix: string): TrinityError {
  const path = pluginPlace(cause)
  const where = path === undefined ? '' : ` in the plugin ${path}`
  // without a plugin it is not the user's to catch
  const hint = pluginFolders().length > 0 ? fix : undefined
  return new TrinityError('run/stray', `${what}${where}: ${messageOf(cause)}`, { path, hint, cause })
}
