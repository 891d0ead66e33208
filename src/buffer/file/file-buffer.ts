import { setImmediate as turn } from 'node:timers/promises'
import { TrinityError } from '../../base/error.js'
import type { Experience } from '../../experience/experience.js'
import type { BufferState, Cut, ExperienceBuffer, PutOptions, Restored, TakeOptions } from '../buffer.js'

/** Training data that lies ready: a JSONL file of experiences, or any other data set turned into experiences. */
export interface RowExperiences {
  readonly length: number
  /** Where the data is, for messages. */
  readonly path?: string
  read(indices: readonly number[]): Promise<Experience[]>
  close(): Promise<void>
}

/** In which order the data is gone through; endless. */
export interface IndexOrder {
  next(count: number): number[]
  save(): unknown
  load(saved: unknown): void
}

export interface FileOptions {
  name: string
  source: RowExperiences
  order: IndexOrder
  /** Experiences that may be taken in all. */
  total: () => number
  /** Appends; absent where the data is only read. */
  append?: (experiences: readonly Experience[]) => Promise<void>
}

/** Data on disk as a buffer: taking goes through it in order, as many times as there are epochs. */
export class FileBuffer implements ExperienceBuffer {
  readonly kind = 'file'
  readonly name: string
  readonly #options: FileOptions
  #taken = 0
  #put = 0
  #closed = false
  #ahead: Ahead | undefined

  constructor(options: FileOptions) {
    this.name = options.name
    this.#options = options
  }

  async put(experiences: readonly Experience[], _options?: PutOptions): Promise<void> {
    if (!this.#options.append) {
      throw new TrinityError(
        'buffer/read-only',
        `buffer '${this.name}' only holds data to read: nothing can be written to it`,
        {
          path: this.name,
        },
      )
    }
    await this.#options.append(experiences)
    this.#put += experiences.length
  }

  /** An incomplete last batch is not given: after the last full one comes the end. */
  async take(count: number, options: TakeOptions = {}): Promise<Experience[]> {
    options.signal?.throwIfAborted()
    if (this.#closed) throw new TrinityError('buffer/closed', `buffer '${this.name}' is closed`, { path: this.name })
    const { source, total } = this.#options
    if (source.length === 0) {
      throw new TrinityError('buffer/empty', `buffer '${this.name}' has no data`, { path: source.path ?? this.name })
    }
    if (this.#taken + count > total()) return []
    const experiences = await this.#read(count)
    this.#taken += count
    for (const experience of experiences) experience.useCount++
    // What is appended to may look different when its time comes.
    if (!this.#options.append && this.#taken + count <= total()) this.#ahead = this.#readAhead(count)
    return experiences
  }

  /** The next ones: those that were read ahead, if they are as many. What fails is not used up. */
  async #read(count: number): Promise<Experience[]> {
    const { source, order } = this.#options
    const ahead = this.#ahead
    this.#ahead = undefined
    const before = ahead?.before ?? order.save()
    try {
      if (ahead?.count === count) return await ahead.experiences
      order.load(before)
      return await source.read(order.next(count))
    } catch (error) {
      order.load(before)
      throw error
    }
  }

  /** While the trainer computes, the next batch is made row by row, so that nothing waits for it and it waits for nobody. */
  #readAhead(count: number): Ahead {
    const { source, order } = this.#options
    const before = order.save()
    const rows = order.next(count)
    const read = async () => {
      const experiences: Experience[] = []
      for (const row of rows) {
        await turn()
        if (this.#closed) break
        experiences.push(...(await source.read([row])))
      }
      return experiences
    }
    const experiences = read()
    // Told to whoever takes them, if anybody does.
    experiences.catch(() => {})
    return { count, before, experiences }
  }

  async finish(): Promise<void> {}

  async cut(): Promise<Cut> {
    const data: FileCut = { taken: this.#taken, order: this.#ahead?.before ?? this.#options.order.save() }
    return { version: 1, kind: this.kind, marks: {}, data }
  }

  async restore(cut: Cut | undefined): Promise<Restored> {
    if (cut && (cut.kind !== this.kind || cut.version !== 1)) {
      throw new TrinityError(
        'buffer/cut',
        `the checkpoint holds a cut of kind '${cut.kind}', '${this.name}' is a file`,
        {
          path: this.name,
          hint: 'resume with the same buffer configuration',
        },
      )
    }
    const data = cut?.data as FileCut | undefined
    if (this.#ahead) this.#options.order.load(this.#ahead.before)
    this.#ahead = undefined
    if (data) this.#options.order.load(data.order)
    this.#taken = data?.taken ?? 0
    return { ready: this.#options.total() - this.#taken, voided: 0 }
  }

  async state(): Promise<BufferState> {
    return {
      name: this.name,
      kind: this.kind,
      ready: this.#options.total() - this.#taken,
      cooling: 0,
      put: this.#put,
      taken: this.#taken,
      discarded: 0,
      finished: true,
      waiting: [],
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#ahead?.experiences.catch(() => {})
    await this.#options.source.close()
  }
}

/** A batch that nobody has taken yet, and where the order stood before it. */
interface Ahead {
  readonly count: number
  readonly before: unknown
  readonly experiences: Promise<Experience[]>
}

interface FileCut {
  taken: number
  order: unknown
}

/** One after the other, from the beginning again at the end. */
export class SequentialOrder implements IndexOrder {
  readonly #length: () => number
  #at = 0

  constructor(length: () => number) {
    this.#length = length
  }

  next(count: number): number[] {
    const length = this.#length()
    return Array.from({ length: count }, () => this.#at++ % length)
  }

  save(): number {
    return this.#at
  }

  load(saved: unknown): void {
    this.#at = Number(saved)
  }
}
