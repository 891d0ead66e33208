import { Session } from 'node:inspector/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { UNDER_WAY } from '../../explorer/under-way-key.js'
import type { Frame } from './frames.js'

/** How long the main thread may take to stop for us. Machine code does not stop: then there is no stack to look at. */
const STOP_MS = 15_000
/** Calls of hooks that one may have to get out of. */
const MOST_STEPS = 20

/** The main thread, held at one place: as long as it is held it does nothing. */
export class HeldStack {
  readonly #session: Session
  readonly #urls: ReadonlyMap<string, string>
  #calls: readonly RawFrame[]

  private constructor(session: Session, calls: readonly RawFrame[], urls: ReadonlyMap<string, string>) {
    this.#session = session
    this.#calls = calls
    this.#urls = urls
  }

  /** Undefined: it could not be stopped. */
  static async take(): Promise<HeldStack | undefined> {
    const session = new Session()
    const urls = new Map<string, string>()
    try {
      session.connectToMainThread()
      session.on('Debugger.scriptParsed', ({ params }) => void urls.set(params.scriptId, params.url))
      const calls = await stopped(session, async () => {
        await session.post('Debugger.enable')
        await session.post('Debugger.pause')
      })
      if (calls) return new HeldStack(session, calls, urls)
    } catch {
      // a Node without an inspector
    }
    session.disconnect()
    return undefined
  }

  get frames(): readonly Frame[] {
    return this.#calls.map(({ functionName, location }) => ({
      url: this.#urls.get(location.scriptId) ?? '',
      functionName,
      line: location.lineNumber,
      column: location.columnNumber ?? 0,
    }))
  }

  /** The rollouts that objects of a call, or of calls around it, belong to; without any, all that are under way. */
  async rollouts(index: number): Promise<readonly string[]> {
    for (const { this: self, scopeChain } of this.#calls.slice(index)) {
      const scopes = scopeChain.filter(({ type }) => type !== 'global' && type !== 'script').map(({ object }) => object)
      for (const { objectId } of [...scopes, self]) {
        const found = objectId === undefined ? [] : await this.#ask(objectId, OF_SCOPE)
        if (found.length > 0) return found
      }
    }
    const objectId = this.#calls[index].scopeChain.at(-1)?.object.objectId
    return objectId === undefined ? [] : this.#ask(objectId, ALL)
  }

  /**
   * Breaks whatever runs, and lets the event loop go on; what waited to be continued at that moment is lost. Node
   * counts its asynchronous calls, and ends the process when the count is wrong or when its own hooks are broken: so the
   * count is cleared, as Node does after an exception, and hooks are left first. False: that was not possible.
   */
  async break(): Promise<boolean> {
    for (let i = 0; i < MOST_STEPS && this.frames[0].url === HOOKS; i++) {
      const calls = await stopped(this.#session, () => this.#session.post('Debugger.stepOut'))
      if (!calls) return false
      this.#calls = calls
    }
    if (this.frames[0].url === HOOKS || (await this.#evaluate(CLEAR)) !== true) return false
    void this.#session.post('Runtime.terminateExecution').catch(() => {})
    await this.#session.post('Debugger.disable')
    this.#session.disconnect()
    return true
  }

  /** Ends the process from within. */
  async exit(code: number): Promise<void> {
    void this.#evaluate(`process.reallyExit(${code})`).catch(() => {})
    await sleep(100)
    // an exiting Node waits for whoever holds it
    this.#session.disconnect()
  }

  /** Lets it go on as if nothing had been. */
  release(): void {
    this.#session.disconnect()
  }

  async #ask(objectId: string, functionDeclaration: string): Promise<readonly string[]> {
    const value = await this.#post('Runtime.callFunctionOn', { objectId, functionDeclaration })
    return Array.isArray(value) ? value : []
  }

  #evaluate(expression: string): Promise<unknown> {
    return this.#post('Debugger.evaluateOnCallFrame', { callFrameId: this.#calls[0].callFrameId, expression })
  }

  async #post(method: string, args: object): Promise<unknown> {
    const answer = await this.#session.post(method, { ...args, returnByValue: true, silent: true })
    return (answer as unknown as { result: { value?: unknown } }).result.value
  }
}

/** The stack after the main thread has been told to stop; undefined: it does not. */
async function stopped(session: Session, tell: () => Promise<unknown>): Promise<readonly RawFrame[] | undefined> {
  const calls = new Promise<readonly RawFrame[]>((resolve) => {
    session.once('Debugger.paused', ({ params }) => resolve(params.callFrames as readonly RawFrame[]))
  })
  const all = tell().then(() => calls)
  all.catch(() => {})
  return (await Promise.race([all, sleep(STOP_MS)])) ?? undefined
}

interface RawFrame {
  readonly callFrameId: string
  readonly functionName: string
  readonly location: { readonly scriptId: string; readonly lineNumber: number; readonly columnNumber?: number }
  readonly scopeChain: readonly { readonly type: string; readonly object: { readonly objectId?: string } }[]
  readonly this: { readonly objectId?: string }
}

const HOOKS = 'node:internal/async_hooks'

/** These run in the main thread, with a scope (its variables are properties) or an object as `this`. */
const OF_SCOPE = `function () {
  const of = globalThis[Symbol.for('${UNDER_WAY}')]
  if (!of) return []
  const own = of(this)
  if (own.length > 0) return own
  for (const { value } of Object.values(Object.getOwnPropertyDescriptors(this))) {
    const found = value === undefined ? [] : of(value)
    if (found.length > 0) return found
  }
  return []
}`
const ALL = `function () { return globalThis[Symbol.for('${UNDER_WAY}')]?.() ?? [] }`
const CLEAR = `(() => {
  const quiet = process.noDeprecation
  process.noDeprecation = true
  try {
    process.binding('async_wrap').clearAsyncIdStack()
    return true
  } finally {
    process.noDeprecation = quiet
  }
})()`
