import type { Duplex } from 'node:stream'
import { TrinityError } from '../../../base/error.js'
import { type Command, call, free } from './command.js'
import { decodeReply, JavaReference, type JavaValue, type Reply } from './value.js'

export interface GatewaySettings {
  /** How long Java may think about one command. */
  readonly timeoutMs: number
  /** Something is on its way, or nothing is any more. */
  readonly onWaiting?: (isWaiting: boolean) => void
  /** Who may know more about a connection that was lost. */
  readonly explain?: (lost: TrinityError) => Promise<TrinityError>
}

interface Batch {
  readonly what: string
  readonly count: number
  readonly replies: Reply[]
  resolve(replies: Reply[]): void
  reject(error: unknown): void
}

/** Characters of one line: more is not an answer, but a program that has lost its way. */
const LONGEST = 1 << 26

/**
 * One connection to Java. Commands that are sent together are carried out one after another with nothing between them;
 * nobody waits for an answer before the next are sent, so that Java always has work.
 */
export class Gateway {
  readonly #socket: Duplex
  readonly #settings: GatewaySettings
  readonly #waiting: Batch[] = []
  readonly #ended: ((error: TrinityError) => void)[] = []
  /** Commands that free what is no longer needed; they go along with the next. */
  readonly #garbage: Command[] = []
  #line: string[] = []
  #length = 0
  #answers = 0
  #deadline: NodeJS.Timeout | undefined
  #isLost = false
  #end: TrinityError | undefined

  constructor(socket: Duplex, settings: GatewaySettings) {
    this.#socket = socket
    this.#settings = settings
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => this.#take(text))
    socket.on('error', (cause) => this.#lose(cause.message, cause))
    socket.on('close', () => this.#lose('it was closed'))
  }

  /** Why there is no connection any more. */
  get end(): TrinityError | undefined {
    return this.#end
  }

  /** Called once, with the reason. */
  onEnd(listener: (error: TrinityError) => void): void {
    if (this.#end) listener(this.#end)
    else this.#ended.push(listener)
  }

  /** The values of all commands; the first that fails fails them all. `what`: as it reads in an error. */
  async send(what: string, commands: readonly Command[]): Promise<JavaValue[]> {
    const replies = await this.#exchange(what, commands)
    const failure = replies.find(({ isOk }) => !isOk)
    if (!failure) return replies.map(({ value }) => value)
    for (const { isOk, value } of replies) if (isOk && value instanceof JavaReference) this.free(value)
    const message = await this.#messageOf(failure.value)
    throw new TrinityError('environment/java', `${what}: ${message.split('\n', 1)[0]}`, { cause: new Error(message) })
  }

  /** The texts of a list, which is freed. None of them holds a line feed. */
  async texts(what: string, list: JavaReference): Promise<string[]> {
    try {
      const [joined] = await this.send(what, [call('java.lang.String', 'join', '\n', list)])
      return joined === '' ? [] : String(joined).split('\n')
    } finally {
      this.free(list)
    }
  }

  free(reference: JavaReference): void {
    this.#garbage.push(free(reference))
  }

  /** Who was about to be answered is told the reason; the others are interrupted by it. */
  close(reason: TrinityError): void {
    if (this.#end) return
    this.#end = reason
    clearTimeout(this.#deadline)
    this.#socket.destroy()
    const [first, ...others] = this.#waiting.splice(0)
    first?.reject(reason)
    for (const { reject } of others) reject(interrupted(reason))
    this.#settings.onWaiting?.(false)
    for (const listener of this.#ended.splice(0)) listener(reason)
  }

  #lose(why: string, cause?: unknown): void {
    if (this.#end || this.#isLost) return
    this.#isLost = true
    const lost = new TrinityError('environment/connection', `the connection to Java is lost: ${why}`, { cause })
    const explained = this.#settings.explain?.(lost) ?? Promise.resolve(lost)
    void explained.then((reason) => this.close(reason))
  }

  #exchange(what: string, commands: readonly Command[]): Promise<Reply[]> {
    if (this.#end) return Promise.reject(interrupted(this.#end))
    const freeing = this.#garbage.splice(0)
    if (freeing.length > 0) this.#expect('freeing', freeing.length).catch(() => {})
    const answered = this.#expect(what, commands.length)
    this.#socket.write([...freeing, ...commands].join(''))
    return answered
  }

  #expect(what: string, count: number): Promise<Reply[]> {
    if (this.#waiting.length === 0) {
      this.#settings.onWaiting?.(true)
      this.#deadline = setTimeout(() => this.#isLate(), this.#settings.timeoutMs)
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ what, count, replies: [], resolve, reject })
    })
  }

  #take(text: string): void {
    if (this.#end) return
    this.#deadline?.refresh()
    let start = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', start)) {
      this.#line.push(text.slice(start, at))
      start = at + 1
      const line = this.#line.length === 1 ? this.#line[0] : this.#line.join('')
      this.#line = []
      this.#length = 0
      if (!this.#deal(line)) return
    }
    if (start === text.length) return
    this.#line.push(text.slice(start))
    this.#length += text.length - start
    if (this.#length > LONGEST) {
      this.close(new TrinityError('environment/py4j', `Java answered more than ${LONGEST} characters`))
    }
  }

  /** False: that was the end. */
  #deal(line: string): boolean {
    const [batch] = this.#waiting
    try {
      if (!batch) throw new TrinityError('environment/py4j', 'Java answered what was not asked')
      batch.replies.push(decodeReply(line))
    } catch (error) {
      this.close(error as TrinityError)
      return false
    }
    this.#answers++
    if (batch.replies.length < batch.count) return true
    this.#waiting.shift()
    if (this.#waiting.length === 0) {
      clearTimeout(this.#deadline)
      this.#settings.onWaiting?.(false)
    }
    batch.resolve(batch.replies)
    return true
  }

  /** What Java says about an exception. */
  async #messageOf(thrown: JavaValue): Promise<string> {
    if (!(thrown instanceof JavaReference)) return typeof thrown === 'string' ? thrown : 'Java failed without a word'
    const [{ value }] = await this.#exchange('an exception', [call(thrown, 'toString')])
    this.free(thrown)
    return typeof value === 'string' ? value : 'Java failed, and cannot say why'
  }

  /** An answer may lie there unread when this process itself was busy: it is looked at first. */
  #isLate(): void {
    const before = this.#answers
    setImmediate(() => {
      if (this.#end || this.#waiting.length === 0) return
      if (this.#answers > before) {
        this.#deadline = setTimeout(() => this.#isLate(), this.#settings.timeoutMs)
        return
      }
      const seconds = this.#settings.timeoutMs / 1000
      this.close(
        new TrinityError('environment/timeout', `${this.#waiting[0].what}: Java did not answer within ${seconds} s`, {
          hint: "this episode is lost, the others of its process go on in a new one; raise the argument 'timeout' if the machine is slow",
        }),
      )
    })
  }
}

const INTERRUPTED = 'environment/interrupted'

/** Java is gone, and what was asked had no part in it. */
export function isInterrupted(error: unknown): boolean {
  return error instanceof TrinityError && error.code === INTERRUPTED
}

function interrupted(cause: TrinityError): TrinityError {
  return new TrinityError(INTERRUPTED, `Java is gone: ${cause.message}`, { hint: cause.hint, cause })
}
