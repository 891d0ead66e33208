// What a PostgreSQL server does meanwhile: processor time of its processes by whom they work for, what it writes, and what
// its clients' processes wait for.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'

const TICKS_PER_S = 100
const LOOK_MS = 100
/** Waits of a process that has nothing to do. */
const IDLE = 'Client/ClientRead'

export class ServerWatch {
  #client
  #server
  #waits = new Map()
  #names = new Map()
  #timer
  #looking

  /** `url`: of the database that is looked at. */
  static async open(server, url) {
    const watch = new ServerWatch()
    watch.#server = server
    watch.#client = new pg.Client(`${url}?application_name=watch`)
    await watch.#client.connect()
    return watch
  }

  /** Numbers that only grow. */
  async counts() {
    const [{ wal }] = await this.#rows(`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS wal`)
    await this.#look()
    const cpu = { explorer: 0, writer: 0, reader: 0, server: 0 }
    for (const [pid, ms] of processorMs(this.#server.pid())) {
      const name = this.#names.get(pid)
      if (name !== 'watch') cpu[name && name in cpu ? name : 'server'] += ms
    }
    return { wal: Number(wal), ...cpu }
  }

  /** Bytes of both tables with their indexes, and rows that were ever put. */
  async size() {
    const [row] = await this.#rows(
      `SELECT coalesce(pg_total_relation_size('experience_buffer'), 0) AS rows,
        coalesce(pg_total_relation_size('experience_buffer_blob'), 0) AS blobs,
        (SELECT coalesce(max(id), 0) FROM experience_buffer) AS count`,
    )
    return { bytes: Number(row.rows) + Number(row.blobs), count: Number(row.count) }
  }

  startWaits() {
    this.#waits.clear()
    this.#timer = setInterval(
      () => (this.#looking ??= this.#look().finally(() => (this.#looking = undefined))),
      LOOK_MS,
    )
  }

  /** Shares of what clients' processes that had work were found at, the largest first. */
  async stopWaits() {
    clearInterval(this.#timer)
    await this.#looking
    const all = [...this.#waits.values()].reduce((sum, count) => sum + count, 0)
    return [...this.#waits].sort(([, a], [, b]) => b - a).map(([name, count]) => ({ name, share: count / all }))
  }

  async close() {
    clearInterval(this.#timer)
    await this.#looking
    await this.#client.end()
  }

  async #look() {
    const rows = await this.#rows(
      `SELECT pid, application_name AS name, wait_event_type || '/' || wait_event AS wait FROM pg_stat_activity
       WHERE backend_type = 'client backend'`,
    )
    for (const { pid, name, wait } of rows) {
      this.#names.set(pid, name)
      if (name === 'watch' || wait === IDLE) continue
      const at = wait ?? 'at work'
      this.#waits.set(at, (this.#waits.get(at) ?? 0) + 1)
    }
  }

  async #rows(sql) {
    return (await this.#client.query(sql)).rows
  }
}

/** Process → milliseconds of processor time, for a process and its children; those that have ended count with it. */
function processorMs(parent) {
  const found = new Map()
  if (!existsSync('/proc/self/stat')) return found
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = statOf(Number(entry))
    if (!stat || (stat.pid !== parent && stat.ppid !== parent)) continue
    found.set(stat.pid, ((stat.own + (stat.pid === parent ? stat.ended : 0)) * 1000) / TICKS_PER_S)
  }
  return found
}

function statOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    const [ppid, utime, stime, cutime, cstime] = [1, 11, 12, 13, 14].map((i) => Number(fields[i]))
    return { pid, ppid, own: utime + stime, ended: cutime + cstime }
  } catch {
    return undefined // it has ended meanwhile
  }
}
