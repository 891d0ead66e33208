import { createInterface } from 'node:readline'
import { PassThrough, type Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { isJsonObject } from '../../base/file/json-file.js'
import { LogRing } from '../../base/log/log-ring.js'
import type { Program } from '../ground/ground.js'
import type { Exit } from '../owned-process.js'
import { jsonObject } from './first-line.js'

/** After the connection to a keeper broke: how long Ray may take to say what became of the node. */
const NEWS_MS = 15_000
/** What it wrote last may still be on its way. */
const SETTLE_MS = 1000

export interface KeptSettings {
  readonly log?: (line: string) => void
  readonly beats: boolean
  /** Asked when the connection broke. */
  readonly headIsGone?: () => Promise<boolean>
}

/** A program on a node of a cluster, as its keeper tells of it. */
export class KeptProgram implements Program {
  readonly log: LogRing
  readonly exited: Promise<Exit>
  readonly beats: Readable | undefined
  pid: number | undefined
  exit: Exit | undefined
  readonly #node: string
  readonly #headIsGone: () => Promise<boolean>
  #end: (exit: Exit) => void = () => {}
  #socket: TLSSocket | undefined
  /** Said before its keeper has come. */
  #early: object[] = []

  constructor(node: string, { log, beats, headIsGone = async () => false }: KeptSettings) {
    this.#node = node
    this.#headIsGone = headIsGone
    this.log = new LogRing(log)
    this.beats = beats ? new PassThrough() : undefined
    this.exited = new Promise((resolve) => {
      this.#end = (exit) => {
        this.log.end()
        this.exit ??= exit
        resolve(this.exit)
      }
    })
  }

  /** Its keeper has come. */
  control(socket: TLSSocket): void {
    if (this.#socket) return void socket.destroy()
    this.#socket = socket
    createInterface({ input: socket }).on('line', (line) => this.#hear(line))
    socket.on('close', () => {
      if (this.exit) return
      const silence = () => this.lost(`was lost: the connection to node ${this.#node} broke`)
      setTimeout(silence, NEWS_MS).unref()
      // nobody is left to say what became of the node
      const head = async () => {
        if (await this.#headIsGone()) this.lost(`was lost on node ${this.#node}: the head of Ray does not answer`)
      }
      setTimeout(() => void head(), SETTLE_MS).unref()
    })
    for (const what of this.#early.splice(0)) this.#say(what)
  }

  /** It cannot be heard of any more; `how` reads after its name. */
  lost(how: string): void {
    this.#end({ code: null, signal: null, lost: how })
    this.#socket?.destroy()
  }

  /** How it ended, where its keeper has not come to say so itself. */
  ended(exit: unknown): void {
    if (isJsonObject(exit)) setTimeout(() => this.#hear(JSON.stringify({ exit })), SETTLE_MS).unref()
    else this.lost('ended, and nobody knows how')
  }

  leave(): void {
    this.#say({ do: 'leave' })
  }

  kill(): void {
    this.#say({ do: 'kill' })
  }

  /** Has its keeper connect to a port of the node, and come back with that. */
  readonly dial = (port: number, ticket: string, waits: boolean): void => this.#say({ do: 'dial', port, ticket, waits })

  #say(what: object): void {
    if (this.exit) return
    if (this.#socket) this.#socket.write(`${JSON.stringify(what)}\n`)
    else this.#early.push(what)
  }

  #hear(line: string): void {
    const { text, beat, pid, exit } = jsonObject(line) ?? {}
    if (typeof text === 'string') this.log.push(text)
    if (beat === true) (this.beats as PassThrough | undefined)?.write('.')
    if (typeof pid === 'number') this.pid = pid
    if (!isJsonObject(exit)) return
    const code = typeof exit.code === 'number' ? exit.code : null
    const signal = typeof exit.signal === 'string' ? (exit.signal as NodeJS.Signals) : null
    this.#end({ code, signal })
  }
}
