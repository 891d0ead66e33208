import type { Socket } from 'node:net'
import { TrinityError } from '../../base/error.js'
import type { JsonObject } from '../../base/file/json-file.js'
import { encodeFrame, type Frame, type FrameData, type FrameLimits, FrameReader, type FrameTensor } from './frames.js'

export type Tensors = Readonly<Record<string, FrameData | FrameTensor>>

export interface WorkerAnswer {
  readonly result: JsonObject
  readonly tensors: ReadonlyMap<string, FrameTensor>
}

export interface Request {
  readonly op: string
  readonly args: JsonObject
  readonly tensors?: Tensors
  /** Told of events that carry the number of this request, until it is answered. */
  readonly onEvent?: (header: JsonObject, tensors: ReadonlyMap<string, FrameTensor>) => void
}

interface Pending extends Request {
  resolve(answer: WorkerAnswer): void
  reject(error: unknown): void
  readonly signal: AbortSignal
}

export interface ConnectionEvents {
  /** An error that stands in an answer, as it is thrown. */
  failed(error: unknown): Promise<TrinityError>
  /** A request was cancelled and is still not answered. */
  unanswered(request: Request): void
  /** The stream is broken or not one of frames; nothing more will come. */
  broken(error: TrinityError): void
}

/** Frames that are kept of a peer that is not trusted yet: behind its token comes its hello. */
const EARLY = 1

/** The frames of one worker: requests find their answers, events their requests. */
export class WorkerConnection {
  readonly #socket: Socket
  readonly #reader: FrameReader
  readonly #pending = new Map<number, Pending>()
  readonly #graceMs: number
  #events: ConnectionEvents | undefined
  #dead: unknown
  #next = 1
  #corked = false
  /** Frames that came before anything was asked, and who waits for the next of them. */
  readonly #early: Frame[] = []
  #awaited: ((frame: Frame) => void) | undefined

  constructor(socket: Socket, limits: FrameLimits, graceMs: number) {
    this.#socket = socket
    this.#reader = new FrameReader(limits)
    this.#graceMs = graceMs
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('error', () => {})
    socket.on('close', () =>
      this.#break(new TrinityError('engine/worker-died', 'the torch worker closed the connection')),
    )
  }

  /** The next of the frames that come unasked, before this is trusted. Pending for ever if there is none. */
  unasked(): Promise<Frame> {
    return new Promise((resolve) => {
      const frame = this.#early.shift()
      if (frame) resolve(frame)
      else this.#awaited = resolve
    })
  }

  /** From now on this is a worker of ours: it may send anything, and keeps the process alive only while it is asked. */
  trust(limits: FrameLimits, events: ConnectionEvents): void {
    this.#reader.limits = limits
    this.#events = events
    if (this.#pending.size === 0) this.#socket.unref()
    if (this.#dead !== undefined) events.broken(this.#dead as TrinityError)
  }

  request(request: Request, signal: AbortSignal): Promise<WorkerAnswer> {
    if (this.#dead !== undefined) return Promise.reject(this.#dead)
    if (signal.aborted) return Promise.reject(signal.reason)
    const id = this.#next++
    return new Promise<WorkerAnswer>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      const cancel = () => {
        this.#write({ cancel: id })
        timer = setTimeout(() => this.#events?.unanswered(request), this.#graceMs)
      }
      const settle = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', cancel)
        this.#pending.delete(id)
        if (this.#pending.size === 0) this.#socket.unref()
      }
      this.#pending.set(id, {
        ...request,
        signal,
        resolve: (answer) => {
          settle()
          resolve(answer)
        },
        reject: (error) => {
          settle()
          reject(error)
        },
      })
      this.#socket.ref()
      signal.addEventListener('abort', cancel, { once: true })
      this.#write({ id, op: request.op, args: request.args }, request.tensors)
    })
  }

  /** Every request under way and to come fails with this. */
  fail(error: unknown): void {
    this.#dead ??= error
    for (const one of [...this.#pending.values()]) one.reject(this.#dead)
    this.#socket.destroy()
  }

  /** What is written in one turn of the event loop goes out at once: agents that were answered together ask together. */
  #write(header: JsonObject, tensors?: Tensors): void {
    if (this.#socket.destroyed) return
    const pieces = encodeFrame(header, tensors)
    if (!this.#corked) {
      this.#corked = true
      this.#socket.cork()
      process.nextTick(() => {
        this.#corked = false
        this.#socket.uncork()
      })
    }
    for (const piece of pieces) this.#socket.write(piece)
  }

  #take(chunk: Uint8Array): void {
    try {
      for (const frame of this.#reader.push(chunk)) this.#deal(frame)
    } catch (error) {
      this.#break(error as TrinityError)
    }
  }

  #deal(frame: Frame): void {
    if (!this.#events) {
      if (this.#early.length >= EARLY)
        throw new TrinityError('engine/frame', 'the torch worker sent too many messages before its first request')
      if (this.#awaited) this.#awaited(frame)
      else this.#early.push(frame)
      this.#awaited = undefined
      return
    }
    const { id, ok, result, error, event, request } = frame.header
    if (event !== undefined) {
      this.#pending.get(request as number)?.onEvent?.(frame.header, frame.tensors)
      return
    }
    const asked = this.#pending.get(id as number)
    if (!asked) throw new TrinityError('engine/frame', `the torch worker answered request ${id}, which was not sent`)
    if (ok === true) asked.resolve({ result: (result ?? {}) as JsonObject, tensors: frame.tensors })
    else if ((error as JsonObject | undefined)?.code === 'engine/cancelled' && asked.signal.aborted) {
      asked.reject(asked.signal.reason)
    } else void this.#events?.failed(error).then(asked.reject)
  }

  #break(error: TrinityError): void {
    if (this.#dead !== undefined) return
    if (this.#events) this.#events.broken(error)
    else this.fail(error)
  }
}
