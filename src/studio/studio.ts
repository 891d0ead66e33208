import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { messageOf, TrinityError } from '../base/error.js'
import { hostInUrl, isEverywhere } from '../gateway/guard.js'
import { studioApp } from './app.js'
import type { Worker } from './child/message.js'
import { Door } from './door.js'
import type { ShownReport } from './machine/parts.js'
import { MetricsTables } from './metrics/tables.js'
import { partsOf } from './parts.js'
import { openPlayers, type Players } from './playground/players.js'
import { runShelf } from './rollout/shelf.js'
import { Stores } from './rollout/stores.js'
import { TokenTexts } from './rollout/token-text.js'
import { VIEW, View, type ViewOptions } from './rollout/view.js'
import { Runs } from './run/runs.js'
import { Exporter } from './write/export.js'
import { openDesk } from './write/open-desk.js'
import { Starter } from './write/start.js'
import { Stopper } from './write/stop.js'

export interface StudioOptions {
  /** Runs are looked for below these; nothing else is ever read. */
  readonly folders: readonly string[]
  /** Default: 127.0.0.1. */
  readonly host?: string
  /** Default: one that is free. */
  readonly port?: number
  /** Of the package. */
  readonly version: string
  /** Folder of the built page. */
  readonly page?: string
  /** How this program is started: the interpreter and the script. Absent: no runs are started from the page. */
  readonly program?: readonly string[]
  /** Folders of plugins for what is checked and started here. */
  readonly pluginDirs?: readonly string[]
  /** What checks configurations; default a process of its own. */
  readonly desk?: Worker
  /** What holds models; default a process for each. */
  readonly players?: Players
  /** Instead of the rollouts of runs: those of one table. */
  readonly view?: ViewOptions
  /** Of `trinity perf run`, to be shown first. */
  readonly report?: ShownReport
}

/** A server that shows runs to one person. It reads files and is no part of any run. */
export class Studio {
  /** With the token that lets the first browser in. */
  readonly url: string
  readonly #door: Door
  readonly #server: Server
  readonly #end: AbortController
  readonly #open: readonly { close(): Promise<void> }[]

  private constructor(
    [server, door]: readonly [Server, Door],
    url: string,
    end: AbortController,
    open: readonly { close(): Promise<void> }[],
  ) {
    this.#server = server
    this.#door = door
    this.url = url
    this.#end = end
    this.#open = open
  }

  static async open(options: StudioOptions): Promise<Studio> {
    const { folders, host = '127.0.0.1', port = 0, version, page } = options
    const view = options.view && (await View.open(options.view))
    const server = createServer()
    await listen(server, host, port)
    const bound = (server.address() as AddressInfo).port
    const door = new Door(bound)
    const end = new AbortController()
    const runs = new Runs(folders)
    const stores = new Stores()
    const { program, pluginDirs = [] } = options
    const desk = options.desk ?? openDesk(pluginDirs)
    const players = options.players ?? openPlayers(pluginDirs)
    const writes = program && {
      ...{ desk, players, exporter: new Exporter(program) },
      ...{ starter: new Starter({ program, pluginDirs }), stopper: new Stopper() },
    }
    const parts = partsOf({
      ...{ runs, tables: new MetricsTables(), version, signal: end.signal, report: options.report },
      shelf: view ?? runShelf(runs, stores, new TokenTexts(folders)),
      writes,
      opens: view && { run: VIEW, store: view.store.id, schema: options.view?.schema ?? 'experience' },
    })
    const app = studioApp({ door, host, page, parts })
    // Hono would else put its own Request and Response in place of everybody's.
    server.on('request', getRequestListener(app.fetch, { overrideGlobalObjects: false }))
    const at = isEverywhere(host) ? '127.0.0.1' : hostInUrl(host)
    return new Studio([server, door], `http://${at}:${bound}/?token=${door.token}`, end, [
      view ?? stores,
      desk,
      players,
      ...(writes ? [writes.exporter] : []),
    ])
  }

  /** Lets one more browser in; an address that nobody has used yet is worth nothing from then on. */
  newUrl(): string {
    const url = new URL(this.url)
    url.searchParams.set('token', this.#door.renew())
    return url.href
  }

  async close(): Promise<void> {
    this.#end.abort()
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    await closed
    await Promise.all(this.#open.map((one) => one.close()))
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) =>
      reject(
        new TrinityError('studio/listen', `cannot listen at ${host}:${port}: ${messageOf(cause)}`, {
          cause,
          hint: 'choose another --port; 0 is any that is free',
        }),
      )
    server.once('error', fail)
    server.listen({ host, port }, () => {
      server.off('error', fail)
      resolve()
    })
  })
}
