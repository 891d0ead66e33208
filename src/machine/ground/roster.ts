import { renameSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { makeFolderSync } from '../../base/file/make-folder.js'
import { redact } from '../../base/secret/index.js'

/** Beside the logs of a run: of each process that has workers and a name of its own, one. */
const ROSTER = 'workers'
const FILE = /^workers(?:-(.+))?\.json$/

/** Whether a file of that name is one of these. */
export function isRoster(name: string): boolean {
  return FILE.test(name)
}

const WRITE_MS = 1000

const entry = z.object({
  name: z.string(),
  node: z.string(),
  gpus: z.array(z.number()),
  pid: z.number().nullable(),
  /** starts, ready, ended; with why it ended. */
  state: z.string(),
  /** What it was asked for and has not answered, and since when; empty: it waits to be asked. */
  doing: z.array(z.string()),
  since: z.number(),
  line: z.string(),
})
const file = z.object({ workers: z.array(entry) })

/** A worker as it is now. */
export type RosterEntry = z.infer<typeof entry>

/** The workers of a run, kept in a file for whoever asks what they do. */
export class Roster {
  readonly #path: string
  readonly #entries: RosterEntry[] = []
  readonly #timer: NodeJS.Timeout
  #changed = true

  /** `who`: the process, where others of the run may have workers too. */
  constructor(logDir: string, who?: string) {
    this.#path = join(logDir, `${ROSTER}${who === undefined ? '' : `-${encodeURIComponent(who)}`}.json`)
    this.#timer = setInterval(() => this.#write(), WRITE_MS).unref()
  }

  /** A worker of this name takes the place of an earlier one. */
  add(name: string, node: string | undefined, gpus: readonly number[] = []): RosterWorker {
    const one: RosterEntry = {
      ...{ name, node: node ?? 'this machine', gpus: [...gpus], pid: null },
      ...{ state: 'starts', doing: [], since: Date.now(), line: '' },
    }
    const old = this.#entries.findIndex((other) => other.name === name)
    if (old >= 0) this.#entries[old] = one
    else this.#entries.push(one)
    this.#changed = true
    return {
      tell: (news) => {
        const { state = one.state, doing = one.doing, line } = news
        if (state !== one.state || doing.join() !== one.doing.join()) one.since = Date.now()
        Object.assign(one, news, line !== undefined && { line: redact(line).slice(0, 300) })
        this.#changed = true
      },
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#write()
  }

  #write(): void {
    if (!this.#changed) return
    this.#changed = false
    try {
      makeFolderSync(dirname(this.#path))
      const beside = `${this.#path}.${process.pid}.tmp`
      writeFileSync(beside, `${JSON.stringify({ workers: this.#entries, pid: process.pid, at: Date.now() })}\n`)
      renameSync(beside, this.#path)
    } catch {
      // a run does not end because nobody can see its workers
    }
  }
}

export interface RosterWorker {
  tell(news: Partial<Pick<RosterEntry, 'pid' | 'state' | 'doing' | 'line'>>): void
}

/** What the processes of a run have written last; of one with a name, workers are `<name>/<worker>`. */
export async function readRosters(logDir: string): Promise<RosterEntry[]> {
  const names = (await readdir(logDir).catch(() => [])).filter(isRoster).toSorted()
  const all = await Promise.all(names.map((name) => readRoster(join(logDir, name), FILE.exec(name)?.[1])))
  return all.flat()
}

async function readRoster(path: string, who: string | undefined): Promise<RosterEntry[]> {
  try {
    const { workers } = file.parse(JSON.parse(await readFile(path, 'utf8')))
    return who === undefined
      ? workers
      : workers.map((one) => ({ ...one, name: `${decodeURIComponent(who)}/${one.name}` }))
  } catch {
    // none of this release
    return []
  }
}
