import type { TrinityErrorOptions } from '../../base/error.js'
import type { Program, PythonProgram, Room } from '../../machine/ground/ground.js'
import type { Exit } from '../../machine/owned-process.js'
import { Pulse } from './pulse.js'

/** What a failed rank says last: see world.py. */
const FAILED_MARK = 'trinity-torch-failed '

/** One worker. Its standard input carries nothing; it speaks over a socket. */
export class WorkerProcess {
  readonly rank: number
  /** Where it runs; undefined: on this machine. */
  readonly node: string | undefined
  readonly pulse: Pulse
  readonly program: Program

  /** `index`: its number in the room. */
  constructor(rank: number, index: number, room: Room, program: Omit<PythonProgram, 'beats'>) {
    this.program = room.start(index, { ...program, beats: 'TRINITY_TORCH_BEATS' })
    this.rank = rank
    this.node = room.node
    this.pulse = new Pulse(this.program.beats)
  }

  get log(): Program['log'] {
    return this.program.log
  }

  get pid(): number | undefined {
    return this.program.pid
  }

  get exit(): Exit | undefined {
    return this.program.exit
  }

  get exited(): Promise<Exit> {
    return this.program.exited
  }

  /** What it said about its own failure. */
  failure(): ({ code: string; message: string } & TrinityErrorOptions) | undefined {
    const text = this.log.find(FAILED_MARK)
    try {
      return text === undefined ? undefined : JSON.parse(text)
    } catch {
      return undefined
    }
  }

  leave(): void {
    this.program.leave()
  }

  kill(): void {
    this.program.kill()
  }
}
