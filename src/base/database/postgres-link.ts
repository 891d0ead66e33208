import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { messageOf, TrinityError } from '../error.js'
import { PostgresProbe, type Statements } from './postgres-probe.js'

/** How long a server may be silent, and how long it may be away. */
export interface Patience {
  /** Of one statement; then its connection is given up. */
  readonly silenceMs: number
  /** From the first failure on. */
  readonly awayMs: number
  /** Interval at which the server is asked whether it works on a statement that has no answer yet. */
  readonly probeMs: number
}

export const PATIENCE: Patience = { silenceMs: 120_000, awayMs: 180_000, probeMs: 5000 }

const CONNECT_MS = 30_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

/** The server is away, or the connection to it is: what was under way may have been done or not. */
const AWAY = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['57P01', '57P02', '57P03'], // it shuts down, has crashed, is starting
  '53300', // too many connections
])
/** The same in the driver's words, for which it has no codes. */
const LOST = /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered/

/** A pool of connections that outlives a restart of its server: what was cut off is done again, and never twice. */
export class PostgresLink {
  readonly #where: string
  readonly #pool: pg.Pool
  readonly #probe: PostgresProbe
  readonly #patience: Patience
  readonly #notice: (message: string) => void

  constructor(where: string, config: pg.PoolConfig, patience: Patience, notice: (message: string) => void) {
    this.#where = where
    this.#patience = patience
    this.#notice = notice
    const { silenceMs, probeMs } = patience
    this.#probe = new PostgresProbe(config, probeMs)
    const connectionTimeoutMillis = Math.min(CONNECT_MS, silenceMs)
    this.#pool = new pg.Pool({ ...config, connectionTimeoutMillis, query_timeout: silenceMs })
    // An idle connection that is lost is replaced when one is needed.
    this.#pool.on('error', () => {})
  }

  /** One try: what is wrong is said at once. */
  async check(): Promise<void> {
    await this.#connected((client) => client.query('SELECT 1'))
  }

  /** `work` only reads. */
  query<T>(work: (client: Statements) => Promise<T>): Promise<T> {
    return this.#patiently(() => this.#connected(work))
  }

  /**
   * `work` may run several times, each in a transaction of its own, of which one is committed. Where the answer to a
   * commit was lost, the server is asked what became of it.
   */
  transaction<T>(work: (client: Statements) => Promise<T>): Promise<T> {
    let unheard: { readonly id: string; readonly value: T } | undefined
    return this.#patiently(async () => {
      if (unheard && (await this.#committed(unheard.id))) return unheard.value
      unheard = undefined
      return this.#connected(async (client) => {
        await client.query(`BEGIN; SET LOCAL statement_timeout = ${this.#patience.silenceMs}`)
        const value = await this.#orRollback(client, () => work(client))
        const { rows } = await client.query('SELECT txid_current_if_assigned()::text AS id')
        if (rows[0].id !== null) unheard = { id: rows[0].id, value }
        await client.query('COMMIT')
        return value
      })
    })
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #orRollback<T>(client: Statements, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!isAway(error)) await client.query('ROLLBACK')
      throw error
    }
  }

  /** A connection that failed is not used again. */
  async #connected<T>(work: (client: Statements) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    let lost: Error | undefined
    const lose = (error: Error) => {
      lost = error
    }
    client.on('error', lose)
    try {
      return await this.#probe.watch(client, work)
    } catch (error) {
      if (isAway(error)) lost = error as Error
      throw error
    } finally {
      client.removeListener('error', lose)
      client.release(lost)
    }
  }

  async #committed(id: string): Promise<boolean> {
    const status = await this.#connected(async (client) => {
      const { rows } = await client.query('SELECT txid_status($1::bigint) AS status', [id])
      return rows[0].status
    })
    if (status !== 'in progress') return status === 'committed'
    throw Object.assign(new Error('the server has not ended the transaction that was cut off'), { code: 'ECONNRESET' })
  }

  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    const { awayMs } = this.#patience
    let since: number | undefined
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await work()
      } catch (error) {
        if (!isAway(error) || this.#pool.ending) throw error
        if (since === undefined) this.#notice(`${this.#where} is away (${messageOf(error)}); trying again`)
        since ??= performance.now()
        if (performance.now() - since >= awayMs) throw this.#gone(error)
      }
      // Those who lost it together must not come back together.
      await sleep(pause * (0.5 + Math.random()))
    }
  }

  #gone(cause: unknown): TrinityError {
    const seconds = Math.round(this.#patience.awayMs / 1000)
    return new TrinityError('database/away', `${this.#where} has been away for ${seconds} s: ${messageOf(cause)}`, {
      path: this.#where,
      hint: 'start the server again, then run the same command: the run resumes',
      cause,
    })
  }
}

function isAway(error: unknown): boolean {
  const { code } = error as { code?: string }
  return code === undefined ? LOST.test(messageOf(error)) : AWAY.has(code)
}
