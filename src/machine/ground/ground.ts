import type { Readable } from 'node:stream'
import type { LogRing } from '../../base/log/log-ring.js'
import type { Exit } from '../owned-process.js'

/** A program that works for this process, wherever it runs. It ends when this process does. */
export interface Program {
  readonly log: LogRing
  readonly exited: Promise<Exit>
  readonly exit: Exit | undefined
  readonly pid: number | undefined
  /** Its signs of life, where it was asked for them. */
  readonly beats: Readable | undefined
  /** Asks it to end. */
  leave(): void
  /** Ends it and everything that it started. */
  kill(): void
}

/** A module of ours that a Python is to run. */
export interface PythonProgram {
  /** Another Python than the ground's own, at the same path on every node. */
  readonly python?: string
  /** What `python -m` runs. */
  readonly module: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly log?: (line: string) => void
  /** Variable that tells it on which descriptor to give signs of life. */
  readonly beats?: string
  /** Variable that tells it where it finds a port of this process. */
  readonly reaches?: { readonly variable: string; readonly port: number }
  /** Variable that tells it at which port of its own loopback interface it finds one of another program's. */
  readonly meets?: { readonly variable: string; readonly program: Program; readonly port: number }
}

/** Where programs run that belong together: on one node, which they reach each other on by its loopback interface. */
export interface Room {
  /** How the node is called; undefined: it is this machine. */
  readonly node: string | undefined
  /** GPUs that the node gave the index-th program; none, where all are open to all. */
  devices(index: number): readonly number[]
  /** A port that was free on the node a moment ago. */
  freePort(): Promise<number>
  /** The index-th of its programs; each has devices of its own where the ground deals them out. */
  start(index: number, program: PythonProgram): Program
  /** A way from this machine to a port of a program's loopback interface. */
  passage(program: Program, port: number): Promise<Passage>
  close(): void
}

/** A port of this machine that leads elsewhere. */
export interface Passage {
  readonly port: number
  close(): void
}

/** What room is wanted for. */
export interface RoomWish {
  /** Rooms of one group are kept close together: `trainer`, `rollout`. */
  readonly group: string
  /** Rooms of the group, and which of them this is. */
  readonly of: number
  readonly index: number
  /** Programs in the room. */
  readonly programs: number
  /** Devices of each; default 1. */
  readonly devices?: number
  readonly gpu: boolean
  /** On the node that has the fewest, beside whatever is there: such programs mostly wait. */
  readonly spread?: boolean
}

/** Where programs of different rooms find each other: a port of their machine, or a channel through this process. */
export type Meeting = { readonly port: number } | { readonly channel: string }

/** The machines that programs are started on. */
export interface Ground {
  /** Rooms may be on different machines, and each program sees only the device that is its own. */
  readonly spans: boolean
  room(wish: RoomWish, signal: AbortSignal): Promise<Room>
  meeting(): Promise<Meeting>
  close(): Promise<void>
}
