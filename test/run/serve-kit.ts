import { readFileSync } from 'node:fs'
import { openBuffer } from '../../src/buffer/index.js'
import type { Experience } from '../../src/experience/index.js'
import { Stop } from '../../src/run/index.js'
import { TrinityClient } from '../../src/serve/client.js'
import { type Bench, Recorder } from './kit.js'

const TEMPLATE = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
const CHAT = { 'model.custom_chat_template': JSON.stringify(TEMPLATE) }
const BUFFER = { 'buffer.trainer_input.experience_buffer': '{name: b, storage_type: sql}' }

let count = 0

/** A server in this process, on the mock engine. */
export class Served {
  readonly #bench: Bench
  readonly stop = new Stop()
  readonly view = new Recorder()
  readonly ended: Promise<unknown>
  readonly name: string

  constructor(bench: Bench, set: Record<string, unknown>, mock = {}, name = `serve${++count}`) {
    this.#bench = bench
    this.name = name
    const keys = { name, mode: 'serve', 'explorer.proxy_port': 0, ...CHAT, ...BUFFER, ...set }
    this.ended = bench.run(keys, { stop: this.stop, view: this.view, mock })
    this.ended.catch(() => {})
  }

  static async open(bench: Bench, set: Record<string, unknown> = {}, mock = {}, name?: string): Promise<Served> {
    const served = new Served(bench, set, mock, name)
    const said = new Promise<void>((resolve) => {
      served.view.onPhase = (_, what) => what.startsWith('serves at') && resolve()
    })
    await Promise.race([said, served.ended])
    return served
  }

  get url(): string {
    return readFileSync(this.#bench.job(this.name, 'explorer_server_url.txt'), 'utf8')
  }

  client(options = {}): TrinityClient {
    return new TrinityClient(this.url, options)
  }

  async end(): Promise<unknown> {
    this.stop.request()
    return this.ended
  }

  /** Everything that a trainer would get. */
  async taken(): Promise<Experience[]> {
    const path = `sqlite:///${this.#bench.job(this.name, 'buffer', 'b.db')}`
    const buffer = await openBuffer({ name: 'b', storage_type: 'sql', path, max_read_timeout: 1 }, {})
    await buffer.finish('explorer')
    const all = await buffer.take(10_000)
    await buffer.close()
    return all
  }
}
