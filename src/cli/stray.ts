import { messageOf, TrinityError } from '../base/error.js'
import { exit, watchExit } from '../base/exit.js'
import { pluginFolders, pluginPlace } from '../plugin/place.js'
import { formatError } from './print.js'

type Listener = (error: TrinityError) => void

/**
 * Failures outside of every call: an unhandled rejection, an error of a timer or an event, `process.exit` in foreign code,
 * and an event loop that drains before the command is done, at which Node would exit with 13 and print nothing. Each fails
 * the command. After the end of the command an error is only a note, and `process.exit` ends the process with the exit
 * code of the command.
 */
class Strays {
  #onFailure: Listener = endWith
  #force: (() => void) | undefined
  #first: TrinityError | undefined
  #isOver = false
  /** Times that the event loop was empty before the command was done. */
  #drainCount = 0

  /** From now on, until the process ends. */
  watch(): void {
    process.on('unhandledRejection', (reason) =>
      this.tell(stray('a promise that is not awaited failed', reason, AWAIT)),
    )
    process.on('uncaughtException', (error) => this.tell(stray('an error was not caught', error, CATCH)))
    process.on('beforeExit', () => this.#drained())
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
    if (this.#first) return
    this.#first = error
    this.#onFailure(error)
  }

  /** A failure of the command itself, which is none the less when it comes after the end. */
  fail(error: TrinityError): void {
    if (this.#isOver) endWith(error)
    else this.tell(error)
  }

  /**
   * Sets the listener of failures; by default a failure ends the process with 1. `force` aborts what a failed command still
   * awaits; it is called if that can never settle. Returns a function that restores the previous listener.
   */
  tellTo(listener: Listener, force?: () => void): () => void {
    const before = { listener: this.#onFailure, force: this.#force }
    this.#onFailure = listener
    this.#force = force
    return () => {
      this.#onFailure = before.listener
      this.#force = before.force
    }
  }

  /**
   * Escalates each time that the event loop is empty: lets other listeners of `beforeExit` act, fails the command, aborts
   * it, ends the process.
   */
  #drained(): void {
    if (this.#isOver) return
    // one more turn: Node emits the event again if the loop is empty after that
    setImmediate(() => {})
    this.#drainCount++
    if (this.#drainCount === 1) return
    const force = this.#force
    if (!this.#first) this.tell(drained())
    else if (force) {
      this.#force = undefined
      force()
    } else endWith(this.#first)
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

function drained(): TrinityError {
  const again = 'run the command again: a run resumes from its last checkpoint'
  const hint = pluginFolders().length > 0 ? `${again}; let no plugin unref a handle that it awaits` : again
  return new TrinityError('run/drained', 'the event loop became empty before the command was done', { hint })
}

function stray(what: string, cause: unknown, fix: string): TrinityError {
  const path = pluginPlace(cause)
  const where = path === undefined ? '' : ` in the plugin ${path}`
  // without a plugin it is not the user's to catch
  const hint = pluginFolders().length > 0 ? fix : undefined
  return new TrinityError('run/stray', `${what}${where}: ${messageOf(cause)}`, { path, hint, cause })
}
