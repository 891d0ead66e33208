import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { redact } from '../../base/secret/index.js'

/** Beside the logs of a run. */
export const ROSTER = 'workers.json'
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
const file = z.object({ workers: z.array(entry), pid: z.number(), at: z.number() })

/** A worker as it is now. */
export type RosterEntry = z.infer<typeof entry>
export type RosterFile = z.infer<typeof file>

/** The workers of a run, kept in a file for whoever asks what they do. */
export class Roster {
  readonly #path: string
  readonly #entries: RosterEntry[] = []
  readonly #timer: NodeJS.Timeout
  #changed = true

  constructor(logDir: string) {
    this.#path = join(logDir, ROSTER)
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
      mkdirSync(dirname(this.#path), { recursive: true })
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

/** What a run has written last; undefined: it has no workers, or none of this release. */
export async function readRoster(logDir: string): Promise<RosterFile | undefined> {
  try {
    return file.parse(JSON.parse(await readFile(join(logDir, ROSTER), 'utf8')))
  } catch {
    return undefined
  }
}
