import { connect } from 'node:net'
import { dirname, resolve } from 'node:path'
import type { TLSSocket } from 'node:tls'
import type { JsonObject } from '../../base/file/json-file.js'
import { makeFolder } from '../../base/file/make-folder.js'
import type { Ground, Meeting, Program, PythonProgram, Room, RoomWish } from '../ground/ground.js'
import { reaches } from '../reaches.js'
import { parseRayAddress } from './address.js'
import { type RayCluster, RayDriver, type RayNode } from './driver.js'
import { Ferry, joined } from './ferry.js'
import { Harbor } from './harbor.js'
import { KeptProgram } from './kept-program.js'
import { openPassage } from './passage.js'
import { passedOn } from './passed-on.js'
import { Relay } from './relay.js'

/** More than Ray takes to say that there is no room. */
const ROOM_MS = 300_000
const TIMELINE_MS = 30_000
/** A program runs as long as it takes; timers cannot wait longer. */
const FOREVER_MS = 2 ** 31 - 1

export interface RayGroundSettings {
  /** As `ray.init` takes it. */
  readonly address: string
  readonly namespace: string
  /** With the packages of the workers, and Ray. */
  readonly python: string
  /** File for Ray's own record of what ran when, written at the end. */
  readonly timeline?: string
  /** What the driver says. */
  readonly log?: (line: string) => void
}

interface Placed extends Pick<RayNode, 'id' | 'address' | 'name'> {
  readonly gpus: readonly number[]
}

/** The nodes of a Ray cluster. Ray finds the place; what programs say comes here directly, encrypted. */
export class RayGround implements Ground {
  readonly spans = true
  readonly cluster: RayCluster
  readonly #driver: RayDriver
  readonly #harbor: Harbor
  readonly #relay = new Relay()
  readonly #ferry = new Ferry()
  readonly #timeline: string | undefined
  readonly #address: string
  #rooms = 0

  private constructor(driver: RayDriver, harbor: Harbor, cluster: RayCluster, settings: RayGroundSettings) {
    this.#timeline = settings.timeline
    this.#address = settings.address
    this.#driver = driver
    this.#harbor = harbor
    this.cluster = cluster
  }

  static async open(settings: RayGroundSettings, signal?: AbortSignal): Promise<RayGround> {
    const { address, namespace, python, log } = settings
    const driver = new RayDriver(python, log)
    try {
      const cluster = await driver.connect(address, namespace, {}, signal)
      return new RayGround(driver, await Harbor.open(cluster.host), cluster, settings)
    } catch (error) {
      await driver.close()
      throw error
    }
  }

  /** Of all nodes. */
  get gpus(): number {
    return this.cluster.nodes.reduce((sum, { gpus }) => sum + gpus, 0)
  }

  async room(wish: RoomWish, signal: AbortSignal): Promise<Room> {
    const room = String(this.#rooms++)
    const found = (await this.#driver.ask('room', { room, ...wish }, ROOM_MS, signal)) as JsonObject & {
      nodes: readonly Placed[]
      port: number
    }
    return {
      node: found.nodes[0].address,
      devices: (index) => found.nodes[index].gpus,
      freePort: async () => found.port,
      start: (index, program) => this.#start(room, index, found.nodes[index], program),
      passage: (program, port) =>
        openPassage((socket) => {
          if (program instanceof KeptProgram) this.#ferry.bring(socket, program, port, false)
        }),
      close: () => void this.#driver.ask('close', { room }, ROOM_MS).catch(() => {}),
    }
  }

  async meeting(): Promise<Meeting> {
    return { channel: this.#relay.open() }
  }

  async close(): Promise<void> {
    if (this.#timeline !== undefined) {
      await makeFolder(dirname(this.#timeline))
      // a cluster that is gone has nothing to tell
      await this.#driver.ask('timeline', { path: resolve(this.#timeline) }, TIMELINE_MS).catch(() => {})
    }
    this.#harbor.close()
    await this.#driver.close()
  }

  async #headAnswers(): Promise<boolean> {
    const head = parseRayAddress(this.#address)
    return head?.kind !== 'tcp' || reaches(head.host, head.port)
  }

  #start(room: string, rank: number, node: Placed, program: PythonProgram): Program {
    const { python, module, args = [], env = {}, log, beats, reaches, meets } = program
    const kept = new KeptProgram(`${node.name} (${node.address})`, {
      log,
      beats: beats !== undefined,
      headIsGone: async () => !(await this.#headAnswers()),
    })
    const worker = `${room}/${rank}`
    let comes = 0
    const harbor = this.#harbor.expect(worker, {
      control: (socket) => kept.control(socket),
      // first to whom it was told to; whenever it comes again, to other workers
      data: (socket) => (comes++ === 0 && reaches ? join(socket, reaches.port) : void this.#relay.take(socket)),
      peer: (socket) => {
        if (meets?.program instanceof KeptProgram) this.#ferry.bring(socket, meets.program, meets.port, true)
        else socket.destroy()
      },
      dialed: (socket, ticket) => this.#ferry.take(ticket, socket),
    })
    const names = { beats, reaches: reaches?.variable, meets: meets?.variable }
    const paths = process.env.PYTHONPATH ? { PYTHONPATH: process.env.PYTHONPATH } : {}
    const given = { ...passedOn(process.env), ...paths, ...env }
    const work = { worker, harbor, node, python, module, args, env: given, ...names, cwd: process.cwd() }
    this.#driver
      .ask('run', { room, rank, work }, FOREVER_MS)
      .then(
        ({ lost, exit }) => (typeof lost === 'string' ? kept.lost(lost) : kept.ended(exit)),
        (error: Error) => kept.lost(`was lost: ${error.message}`),
      )
      .finally(() => this.#harbor.forget(worker))
    return kept
  }
}

function join(socket: TLSSocket, port: number): void {
  const here = connect(port, '127.0.0.1')
  here.setNoDelay(true)
  here.unref()
  joined(socket, here)
}
