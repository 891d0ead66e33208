import { TrinityError } from '../../base/error.js'
import type { Experience } from '../../experience/experience.js'
import type { BufferState, Cut, ExperienceBuffer, PutOptions, Restored, TakeOptions } from '../buffer.js'
import type { Noise } from '../priority/noise.js'
import type { Replay } from '../replay.js'
import { Waiters } from '../waiters.js'
import { Producers, type SavedProducer } from './job.js'
import { type Retry, retrying } from './retry.js'
import { StepEnds } from './step-ends.js'
import type { BeforeChange, ExperienceTable, NextPriority, TableCut } from './table.js'
import { TakeJournal } from './take-journal.js'

export interface SqlOptions {
  name: string
  table: ExperienceTable
  timeoutMs: number
  replay?: Replay
  noise: Noise
  retry: Retry
}

/** Another process's put is noticed by looking: soon at first, then less and less often. */
const LOOK_MS = { first: 10, last: 250 }

/**
 * The buffer that several processes share through a database. First in, first out; with replay highest priority first.
 * A row is handed out in the transaction that marks it, so to one taker only. Takes that name their training step are
 * journaled, so that a trainer that was killed gets the rows of steps after its checkpoint again.
 */
export class SqlBuffer implements ExperienceBuffer {
  readonly kind = 'sql'
  readonly name: string
  readonly #options: SqlOptions
  readonly #table: ExperienceTable
  readonly #producers: Producers
  readonly #journal: TakeJournal
  readonly #waiters: Waiters
  readonly #ends = new StepEnds()
  #seen = 0
  #counts = { put: 0, taken: 0, discarded: 0 }

  constructor(options: SqlOptions) {
    this.name = options.name
    this.#options = options
    this.#table = options.table
    this.#producers = new Producers(options.name)
    this.#journal = new TakeJournal(options.name)
    this.#waiters = new Waiters(options.name)
  }

  async put(experiences: readonly Experience[], options: PutOptions = {}): Promise<void> {
    this.#waiters.check()
    const { replay, noise } = this.#options
    const priorities = replay && experiences.map((e) => replay.priorityOf({ ...e, normal: noise.of(e) }))
    const ids = await this.#retrying(() =>
      this.#table.insert(experiences, priorities, (tx) =>
        this.#producers.note(tx, options.who ?? 'explorer', false, options.mark),
      ),
    )
    if (replay && options.step !== undefined) {
      this.#ends.add(options.step, ids.at(-1) ?? (await this.#table.lastId()))
    }
    this.#counts.put += experiences.length
    this.#waiters.wake()
  }

  async take(count: number, options: TakeOptions = {}): Promise<Experience[]> {
    let pause = LOOK_MS.first / 2
    const experiences = await this.#waiters.until(
      {
        who: options.who ?? 'trainer',
        code: 'buffer/timeout',
        deadlineMs: options.deadlineMs ?? this.#options.timeoutMs,
        signal: options.signal,
        reason: () => {
          const steps = options.through === undefined ? '' : `, of explorer steps up to ${options.through}`
          return `${count} experiences of '${this.name}' in ${this.#table.db.where}${steps}: ${this.#seen} are available`
        },
        lookMs: () => (pause = Math.min(pause * 2, LOOK_MS.last)),
        hint: 'is the explorer running, and does it write to this database?',
      },
      () => this.#retrying(() => this.#tryTake(count, options)),
    )
    this.#counts.taken += experiences.length
    return experiences
  }

  async #tryTake(count: number, options: TakeOptions): Promise<Experience[] | undefined> {
    const now = Date.now()
    const minModelVersion = (options.minModelVersion ?? 0) > 0 ? options.minModelVersion : undefined
    const through = this.#options.replay && options.through
    const journal = this.#journaled(options.step)
    // The end is asked for before the rows: a producer that finishes in between has put everything by then.
    const all = await this.#producers.allFinished(this.#table.db)
    const known = through === undefined || through <= this.#ends.reached
    if (!known && !all) return undefined
    if (minModelVersion) this.#counts.discarded += await this.#table.discardOlder(minModelVersion, journal)
    // The end stands behind the last step: reuse is over for the take that asks for more than there will be.
    const ended = all && (through === undefined || !known)
    const limits = through === undefined || !known ? [undefined] : this.#ends.from(through)
    for (const maxId of limits) {
      this.#seen = await this.#table.countReady(count, { minModelVersion, now, maxId })
      if (this.#seen < count) continue
      return this.#table.claim(count, { minModelVersion, now, maxId, all: ended }, this.#next(now, ended), journal)
    }
    return all ? this.#table.claim(count, { minModelVersion, now, all }, this.#next(now, true), journal) : undefined
  }

  #journaled(step: number | undefined): BeforeChange | undefined {
    return step === undefined ? undefined : (tx, rows) => this.#journal.add(tx, step, rows)
  }

  releaseAfter(step: number): Promise<number> {
    return this.#retrying(() =>
      this.#table.db.transaction(async (tx) => {
        const rows = await this.#journal.removeAfter(tx, step)
        await this.#table.setReady(tx, rows)
        return rows.length
      }),
    )
  }

  /** How a row stands after its use. When nothing new comes, nothing is used again: else the end would never come. */
  #next(now: number, ended: boolean): NextPriority {
    const { replay, noise } = this.#options
    const wait = replay?.cooldownMs
    if (!replay || wait === undefined || ended) return () => undefined
    return (experience) => {
      const priority = replay.priorityOf({ ...experience, normal: noise.of(experience) })
      // Without a time to wait it is the next take, whatever the clock says.
      return priority === undefined ? undefined : { priority, availableAt: wait > 0 ? now + wait : 0 }
    }
  }

  async finish(who = 'explorer'): Promise<void> {
    await this.#retrying(() => this.#table.db.transaction((tx) => this.#producers.note(tx, who, true)))
    this.#waiters.wake()
  }

  async cut(): Promise<Cut> {
    const now = Date.now()
    const cut = await this.#table.db.transaction(async (tx): Promise<Cut> => {
      const { lastId, ready } = await this.#table.cut(tx)
      const producers = await this.#producers.save(tx)
      const data: SqlCut = {
        lastId,
        ready: ready.map((row) => [row.id, row.consumed, row.priority ?? 0, Math.max(0, (row.availableAt ?? 0) - now)]),
        producers,
        steps: this.#ends.save(),
        takes: await this.#journal.lastId(tx),
      }
      const marks = Object.fromEntries(producers.flatMap((p) => (p.mark === undefined ? [] : [[p.producer, p.mark]])))
      return { version: 1, kind: this.kind, marks, data }
    })
    await this.#table.db.flush()
    return cut
  }

  async restore(cut: Cut | undefined): Promise<Restored> {
    const data: SqlCut = cut ? sqlCut(cut, this.name) : { lastId: 0, ready: [], producers: [] }
    const now = Date.now()
    const ready: TableCut['ready'] = data.ready.map(([id, consumed, priority, waitMs]) => ({
      id,
      consumed,
      priority,
      availableAt: waitMs > 0 ? now + waitMs : 0,
    }))
    const voided = await this.#table.restore({ lastId: data.lastId, ready }, async (tx) => {
      await this.#producers.load(tx, data.producers)
      await this.#journal.truncate(tx, data.takes ?? 0)
    })
    this.#ends.load(data.steps)
    this.#waiters.wake()
    return { ready: ready.filter((row) => row.availableAt === 0).length, voided }
  }

  async state(): Promise<BufferState> {
    const { ready, cooling } = await this.#table.counts(Date.now())
    return {
      name: this.name,
      kind: this.kind,
      ready,
      cooling,
      ...this.#counts,
      finished: await this.#producers.allFinished(this.#table.db),
      waiting: this.#waiters.list(),
    }
  }

  async close(): Promise<void> {
    this.#waiters.close()
    await this.#table.close()
  }

  #retrying<T>(work: () => Promise<T>): Promise<T> {
    return retrying(this.#options.retry, this.#table.db.where, work)
  }
}

interface SqlCut {
  lastId: number
  /** id, uses, priority, milliseconds to cool. */
  ready: [number, number, number, number][]
  producers: SavedProducer[]
  /** Explorer steps with their last row. */
  steps?: [number, number][]
  /** Id of the newest entry of the journal. Default: 0, because earlier releases kept no journal. */
  takes?: number
}

function sqlCut(cut: Cut, name: string): SqlCut {
  const data = cut.data as SqlCut
  if (cut.version !== 1 || cut.kind !== 'sql' || !Array.isArray(data?.ready)) {
    throw new TrinityError(
      'buffer/cut',
      `the checkpoint holds a cut of kind '${cut.kind}', '${name}' is in a database`,
      {
        path: name,
        hint: 'resume with the same buffer configuration',
      },
    )
  }
  return data
}
