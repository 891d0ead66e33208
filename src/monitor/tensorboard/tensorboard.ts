import { closeSync, openSync, readdirSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { makeFolderSync } from '../../base/file/make-folder.js'
import type { Monitor } from '../monitor.js'
import { fileName } from '../names.js'
import { type EventContent, encodeEvent, frame } from './event.js'
import { scalarsAt } from './read.js'

const PREFIX = 'events.out.tfevents.'
const EVALUATION = /^(eval|time\/eval)(\/|$)/

/**
 * TensorBoard's event files in `<job>/monitor/tensorboard/<role>`, a new one for each start of the process. It takes
 * scalars only; tables are in the files beside it.
 */
export class TensorBoardMonitor implements Monitor {
  readonly #dir: string
  readonly #now: () => number
  #fd: number | undefined
  /** What earlier files say of the evaluation of the step that this run goes on from, until it is made again. */
  #held: { readonly step: number; readonly scalars: Map<string, number> } | undefined

  constructor(dir: string, now: () => number = Date.now) {
    this.#dir = dir
    this.#now = now
  }

  log(scalars: Readonly<Record<string, number>>, step: number): void {
    if (this.#held && step === this.#held.step) for (const name of Object.keys(scalars)) this.#held.scalars.delete(name)
    else this.#giveHeld()
    if (Object.keys(scalars).length > 0) this.#write({ step, scalars })
  }

  table(): void {}

  /** TensorBoard forgets what earlier files have from the step of a session's start on. */
  rewind(step: number): void {
    if (this.#files().length === 0) return
    // Before the first checkpoint even step 0, the evaluation at the start, is made again.
    if (step <= 0) {
      this.#write({ step: 0, sessionStart: true })
      return
    }
    const known = new Map(
      this.#files()
        .sort()
        .flatMap((file) => [...scalarsAt(join(this.#dir, file), step)]),
    )
    const evaluated = new Map([...known].filter(([name]) => EVALUATION.test(name)))
    if (evaluated.size === 0) {
      this.#write({ step: step + 1, sessionStart: true })
      return
    }
    // The evaluation of the last step is made again; the rest of that step is not, and is said again here.
    this.#write({ step, sessionStart: true })
    for (const name of evaluated.keys()) known.delete(name)
    if (known.size > 0) this.#write({ step, scalars: Object.fromEntries(known) })
    this.#held = { step, scalars: evaluated }
  }

  async close(): Promise<void> {
    this.#giveHeld()
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  /** An evaluation that was not made again after all still counts. */
  #giveHeld(): void {
    if (!this.#held) return
    const { step, scalars } = this.#held
    this.#held = undefined
    if (scalars.size > 0) this.#write({ step, scalars: Object.fromEntries(scalars) })
  }

  #write(event: Omit<EventContent, 'wallTime'>): void {
    this.#fd ??= this.#create()
    this.#put(this.#fd, event)
  }

  #put(fd: number, event: Omit<EventContent, 'wallTime'>): void {
    writeSync(fd, frame(encodeEvent({ wallTime: this.#now() / 1000, ...event })))
  }

  #create(): number {
    makeFolderSync(this.#dir)
    const fd = openSync(join(this.#dir, this.#name()), 'wx')
    this.#put(fd, { fileVersion: 'brain.Event:2' })
    return fd
  }

  /** TensorBoard reads the files in the order of their names: this one comes last even if the clock went back. */
  #name(): string {
    const begun = this.#files().map((file) => Number.parseInt(file.slice(PREFIX.length), 10) || 0)
    const at = Math.max(Math.floor(this.#now() / 1000), ...begun.map((time) => time + 1))
    return `${PREFIX}${String(at).padStart(10, '0')}.${fileName(hostname())}.${process.pid}.0`
  }

  #files(): string[] {
    try {
      return readdirSync(this.#dir).filter((file) => file.startsWith(PREFIX))
    } catch {
      return []
    }
  }
}
