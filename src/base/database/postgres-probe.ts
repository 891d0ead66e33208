import pg from 'pg'

/** Statements on one connection. */
export interface Statements {
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>
}

/**
 * Ends a process that has waited for its client for a while: else it would keep its transaction, and the locks of it, until
 * the server itself finds the connection dead.
 */
const ACTIVITY = `SELECT works, CASE WHEN NOT works THEN pg_terminate_backend(pid) END FROM (
  SELECT pid, coalesce(state = 'active' OR state_change > now() - $2::interval, true) AS works
  FROM pg_stat_activity WHERE pid = $1
) AS backend`

/**
 * Finds out whether an unanswered statement is slow, or its connection is dead. A firewall that forgets a connection tells
 * neither end, and TCP takes a quarter of an hour to give up data that is not acknowledged. So the server is asked on a
 * second connection: if the process behind the first one is idle, the statement or its answer was lost. Whatever was cut
 * off is then done again by the link.
 */
export class PostgresProbe {
  readonly #config: pg.ClientConfig
  readonly #everyMs: number
  /** Server process of each connection; undefined if a pooler is in between, which hides it. */
  readonly #backends = new WeakMap<pg.PoolClient, number | undefined>()

  constructor(config: pg.ClientConfig, everyMs: number) {
    this.#config = { ...config, connectionTimeoutMillis: everyMs, query_timeout: everyMs }
    this.#everyMs = everyMs
  }

  /** Runs `work` on a connection, which is closed with an error as soon as it is known to be dead. */
  async watch<T>(client: pg.PoolClient, work: (statements: Statements) => Promise<T>): Promise<T> {
    if (!this.#backends.has(client)) this.#backends.set(client, await backendOf(client))
    const backend = this.#backends.get(client)
    if (backend === undefined) return work(client)
    let asked = 0
    let isWaiting = false
    const statements: Statements = {
      async query(text, values) {
        asked++
        isWaiting = true
        try {
          return await client.query(text, values)
        } finally {
          isWaiting = false
        }
      },
    }
    let before = 0
    let isLooking = false
    const timer = setInterval(async () => {
      // the first interval of a statement is its own
      const current = isWaiting ? asked : 0
      const isOld = current !== 0 && current === before
      before = current
      if (!isOld || isLooking) return
      isLooking = true
      const isDead = (await this.#works(backend).catch(() => undefined)) === false
      isLooking = false
      if (isDead && isWaiting && asked === current) close(client)
    }, this.#everyMs)
    timer.unref()
    try {
      return await work(statements)
    } finally {
      clearInterval(timer)
    }
  }

  /** Returns false if the server process waited for its client and was ended, or does not exist. Throws without an answer. */
  async #works(backend: number): Promise<boolean> {
    const client = new pg.Client(this.#config)
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query(ACTIVITY, [backend, `${this.#everyMs} milliseconds`])
      return rows.length > 0 && rows[0].works !== false
    } finally {
      client.end().catch(() => {})
    }
  }
}

async function backendOf(client: pg.PoolClient): Promise<number | undefined> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  const { processID } = client as { processID?: number }
  return rows[0].pid === processID ? processID : undefined
}

/** Fails what waits on a connection, as the driver does when the other end closes it. */
function close(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
