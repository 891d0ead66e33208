import { setTimeout as sleep } from 'node:timers/promises'
import { HttpError } from '../../base/http/error.js'
import type { InFlight, OnToken } from '../contract.js'
import type { CallLimits, ServedRequest, ServedSample, ServerApi, ServerFacts } from './server-api.js'
import type { ServerSource } from './server-source.js'

/** A server whose faults are written down: what a real one cannot be made to do. */
export class ScriptedServer implements ServerApi {
  readonly url: string
  /** What happened to it. */
  readonly log: string[] = []
  weights = 'own'
  version = 'default'
  dead = false
  facts: ServerFacts = {
    version: '1',
    maxModelLen: 64,
    logprobs: 'model',
    scoresAnyTemperature: true,
    extended: false,
  }
  /** Throws before something is done. */
  before: (what: string) => void = () => {}
  /** Milliseconds of a token. */
  tokenMs = 0
  readonly #aborted = new Set<string>()

  constructor(url: string) {
    this.url = url
  }

  async about(): Promise<ServerFacts> {
    this.#ask('about')
    return this.facts
  }

  async health(): Promise<void> {
    this.#ask('health')
  }

  async generate(request: ServedRequest, _: CallLimits, onToken?: OnToken): Promise<ServedSample[]> {
    const tokens: number[] = []
    this.#ask('generate')
    for (let i = 0; i < request.wish.maxTokens && !this.#aborted.has(request.id); i++) {
      if (this.tokenMs > 0) await sleep(this.tokenMs)
      this.#ask('token')
      tokens.push(i + 1)
      for (let n = 0; n < request.n; n++) onToken?.(n, i + 1, -1)
    }
    const finish = this.#aborted.has(request.id) ? 'abort' : 'length'
    return Array.from({ length: request.n }, () => ({
      tokens: Int32Array.from(tokens),
      logprobs: new Float32Array(tokens.length).fill(-1),
      finish,
      versions: tokens.length > 0 ? [{ version: this.version, from: 0 }] : [],
      cachedTokens: 0,
    }))
  }

  async abort(id: string): Promise<void> {
    this.#aborted.add(id)
  }

  async score(tokens: Int32Array): Promise<Float32Array> {
    this.#ask('score')
    return new Float32Array(tokens.length - 1).fill(-2)
  }

  async pause(inFlight: InFlight): Promise<void> {
    this.#ask(`pause ${inFlight}`)
  }

  async resume(): Promise<void> {
    this.#ask('resume')
  }

  async reload(dir: string, version: string): Promise<void> {
    this.#ask(`reload ${version}`)
    this.weights = dir
    this.version = version
  }

  close(): void {}

  #ask(what: string): void {
    if (this.dead) throw new HttpError('fake/unreachable', `${this.url} is gone`)
    this.before(what)
    if (what !== 'health' && what !== 'token') this.log.push(what)
  }
}

/** Starts such a server, and another one when it was lost. */
export class ScriptedSource implements ServerSource {
  readonly name: string
  onLost?: (why: string) => void
  starts = 0
  server: ScriptedServer
  readonly #prepare: (server: ScriptedServer, start: number) => void

  constructor(name: string, prepare: (server: ScriptedServer, start: number) => void = () => {}) {
    this.name = name
    this.#prepare = prepare
    this.server = new ScriptedServer(name)
  }

  async open(): Promise<ServerApi> {
    if (this.starts++ > 0) {
      await sleep(20)
      this.server = new ScriptedServer(this.name)
    }
    this.#prepare(this.server, this.starts)
    return this.server
  }

  /** As a process that ends. */
  kill(): void {
    this.server.dead = true
    this.onLost?.('was ended by SIGKILL')
  }

  async close(): Promise<void> {}
}
