import { TrinityError } from '../../base/error.js'
import { decodeExperiences, encodeExperiences } from '../../experience/binary.js'
import type { Experience } from '../../experience/experience.js'
import type { BufferState, Cut, ExperienceBuffer, PutOptions, Restored, TakeOptions } from '../buffer.js'
import { Waiters } from '../waiters.js'
import type { Keeper } from './keeper.js'
import type { Entry, Order, SavedItem } from './order.js'

export interface QueueOptions {
  name: string
  capacity: number
  order: Order
  /** Counts a use where the order itself does not. */
  countsUses: boolean
  timeoutMs: number
  keeper?: Keeper
}

/** The buffer inside one process: explorer and trainer share it as an object. */
export class QueueBuffer implements ExperienceBuffer {
  readonly kind = 'queue'
  readonly name: string
  readonly #options: QueueOptions
  readonly #order: Order
  readonly #keeper?: Keeper
  readonly #waiters: Waiters
  /** Takers that found too little. */
  #hungry = 0
  #putting = false
  /** By name: whether it has finished. */
  #producers: Record<string, boolean> = {}
  #marks: Record<string, unknown> = {}
  /** Rows thrown away that the keeper has not been told of yet. */
  #dropped: number[] = []
  #counts = { put: 0, taken: 0, discarded: 0 }

  constructor(options: QueueOptions) {
    this.name = options.name
    this.#options = options
    this.#order = options.order
    this.#keeper = options.keeper
    this.#waiters = new Waiters(options.name)
  }

  async put(experiences: readonly Experience[], options: PutOptions = {}): Promise<void> {
    const who = options.who ?? 'explorer'
    await this.#turnToPut(experiences.length, options, who)
    try {
      if (experiences.length > 0) {
        const rows = await this.#keeper?.append(experiences)
        const entries = experiences.map((experience, i): Entry => ({ experience, row: rows?.[i] }))
        this.#discard(this.#order.add(entries, options.step))
        this.#counts.put += experiences.length
        await this.#tellKeeper()
      } else if (options.step !== undefined) this.#order.add([], options.step)
      if (options.mark !== undefined) this.#marks[who] = options.mark
      this.#producers[who] = false
    } finally {
      this.#putting = false
      this.#waiters.wake()
    }
  }

  /** Puts go one after the other, so that what is kept and what is queued have the same order. */
  async #turnToPut(size: number, options: PutOptions, who: string): Promise<void> {
    const { capacity, timeoutMs } = this.#options
    await this.#waiters.until(
      {
        who,
        code: 'buffer/full',
        deadlineMs: options.deadlineMs ?? timeoutMs,
        signal: options.signal,
        reason: () =>
          `room for ${size} experiences in '${this.name}': ${this.#order.ready} of ${capacity} places are taken`,
        hint: 'the trainer does not take experiences fast enough: check its log, or raise capacity',
      },
      () => {
        // A taker that found too little must be fed even if that goes over the capacity: else both would wait for ever.
        if (this.#putting || (!this.#order.fits(size) && this.#hungry === 0)) return undefined
        this.#putting = true
        return true
      },
    )
  }

  async take(count: number, options: TakeOptions = {}): Promise<Experience[]> {
    this.#waiters.check()
    const entries = this.#tryTake(count, options) ?? (await this.#waitToTake(count, options))
    const rows = entries.flatMap((entry) => entry.row ?? [])
    if (rows.length > 0) await this.#keeper?.taken(rows)
    await this.#tellKeeper()
    return entries.map((entry) => entry.experience)
  }

  async #waitToTake(count: number, options: TakeOptions): Promise<Entry[]> {
    this.#hungry++
    this.#waiters.wake()
    try {
      return await this.#waiters.until(
        {
          who: options.who ?? 'trainer',
          code: 'buffer/timeout',
          deadlineMs: options.deadlineMs ?? this.#options.timeoutMs,
          signal: options.signal,
          reason: () => `${count} experiences of '${this.name}'${upTo(options)}: ${this.#order.ready} are available`,
          lookMs: () => this.#order.nextMs(),
          hint: 'the explorer does not make enough of them: check its log, or raise max_read_timeout',
        },
        () => this.#tryTake(count, options),
      )
    } finally {
      this.#hungry--
    }
  }

  #tryTake(count: number, { through, minModelVersion }: TakeOptions): Entry[] | undefined {
    const ended = this.#finished() && !this.#putting
    const { enough, gone } = this.#order.open({ count, through, minModelVersion, ended })
    this.#discard(gone)
    if (!enough) return undefined
    const entries = this.#order.take(count)
    if (this.#options.countsUses) for (const { experience } of entries) experience.useCount++
    this.#counts.taken += entries.length
    if (entries.length > 0) this.#waiters.wake()
    return entries
  }

  #discard(entries: Entry[]): void {
    this.#counts.discarded += entries.length
    for (const entry of entries) if (entry.row !== undefined) this.#dropped.push(entry.row)
  }

  async #tellKeeper(): Promise<void> {
    if (this.#dropped.length > 0) await this.#keeper?.dropped(this.#dropped.splice(0))
  }

  async finish(who = 'explorer'): Promise<void> {
    this.#producers[who] = true
    this.#waiters.wake()
  }

  #finished(): boolean {
    const states = Object.values(this.#producers)
    return states.length > 0 && states.every((finished) => finished)
  }

  async cut(): Promise<Cut> {
    await this.#quiet()
    const saved = this.#order.save()
    const entries = new Map<Entry, number>()
    for (const item of saved.items) for (const entry of item.entries) entries.set(entry, entries.size)
    // The same entry can be in two items (split, and cooling): it gets one number.
    const list = [...entries.keys()]
    list.forEach((entry, i) => {
      entries.set(entry, i)
    })
    const items = saved.items.map((item) => ({ ...item, entries: item.entries.map((entry) => entries.get(entry)!) }))
    const data: QueueCut = {
      end: this.#keeper?.end,
      rows: list.map((entry) => entry.row ?? -1),
      uses: list.map((entry) => entry.experience.useCount),
      payload: this.#keeper ? undefined : toBase64(encodeExperiences(list.map((entry) => entry.experience))),
      items,
      seq: saved.seq,
      reached: saved.reached,
      reuse: saved.reuse,
      producers: { ...this.#producers },
    }
    const marks = { ...this.#marks }
    await this.#keeper?.flush()
    return { version: 1, kind: this.kind, marks, data }
  }

  async restore(cut: Cut | undefined): Promise<Restored> {
    await this.#quiet()
    const data = cut ? queueCut(cut, this.name) : NOTHING
    const experiences = await this.#bringBack(data)
    const entries = experiences.map((experience, i): Entry => {
      experience.useCount = data.uses[i]
      return { experience, row: this.#keeper ? data.rows[i] : undefined }
    })
    const items = data.items.map((item): SavedItem => ({ ...item, entries: item.entries.map((i) => entries[i]) }))
    const voided = (await this.#keeper?.restore(data.end ?? 0, data.rows, data.uses)) ?? 0
    this.#order.load({ items, seq: data.seq, reached: data.reached, reuse: data.reuse })
    this.#marks = { ...cut?.marks }
    this.#producers = { ...data.producers }
    this.#waiters.wake()
    return { ready: this.#order.ready + this.#order.held, voided }
  }

  async #bringBack(data: QueueCut): Promise<Experience[]> {
    if (data.payload !== undefined)
      return decodeExperiences(Buffer.from(data.payload, 'base64'), `cut of '${this.name}'`)
    if (this.#keeper) return this.#keeper.load(data.rows)
    if (data.rows.length === 0) return []
    throw new TrinityError('buffer/cut', `the cut of '${this.name}' refers to a file, but the buffer has no path now`, {
      path: this.name,
      hint: 'resume with the same buffer configuration',
    })
  }

  /** Waits until no put is half done. */
  async #quiet(): Promise<void> {
    const request = { who: 'checkpoint', code: 'buffer/timeout', deadlineMs: this.#options.timeoutMs }
    await this.#waiters.until({ ...request, reason: () => `a put into '${this.name}' to end` }, () =>
      this.#putting ? undefined : true,
    )
  }

  async state(): Promise<BufferState> {
    return {
      name: this.name,
      kind: this.kind,
      ready: this.#order.ready + this.#order.held,
      cooling: this.#order.cooling,
      capacity: this.#options.capacity,
      ...this.#counts,
      finished: this.#finished(),
      waiting: this.#waiters.list(),
    }
  }

  async close(): Promise<void> {
    this.#waiters.close()
    await this.#keeper?.close()
  }
}

interface QueueCut {
  end?: number
  /** Row of each entry in the keeper. */
  rows: number[]
  uses: number[]
  /** Without a keeper: the experiences themselves. */
  payload?: string
  items: (Omit<SavedItem, 'entries'> & { entries: number[] })[]
  seq?: number
  reached?: number
  reuse?: boolean
  producers: Record<string, boolean>
}

const NOTHING: QueueCut = { rows: [], uses: [], items: [], producers: {} }

function queueCut(cut: Cut, name: string): QueueCut {
  const data = cut.data as QueueCut
  if (cut.version !== 1 || cut.kind !== 'queue' || !Array.isArray(data?.rows) || !Array.isArray(data.items)) {
    throw new TrinityError('buffer/cut', `the checkpoint holds a cut of kind '${cut.kind}', '${name}' is a queue`, {
      path: name,
      hint: 'resume with the same buffer configuration',
    })
  }
  return data
}

function upTo({ through }: TakeOptions): string {
  return through === undefined ? '' : `, of explorer steps up to ${through}`
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
