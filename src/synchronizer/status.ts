import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { writeJsonFile } from '../base/file/atomic-file.js'
import { readJsonObject } from '../base/file/json-file.js'

export type RoleState = 'running' | 'wants_experiences' | 'wants_weights' | 'ended' | 'stopped' | 'failed'

/** What one process of a job tells the others: `.status-<name>.json` in the job directory. */
export interface RoleStatus {
  readonly role: 'explorer' | 'trainer'
  readonly name: string
  readonly state: RoleState
  /** Steps done. */
  readonly step: number
  /** Training step whose weights it has. */
  readonly version: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly cause?: string
}

const FILE = /^\.status-(.+)\.json$/

/** This process's own status, and those of the others in the job. */
export class StatusBoard {
  readonly #dir: string
  readonly #now: () => number
  #own: RoleStatus
  /** Writes come one after the other, so that the last one stays. */
  #writing: Promise<void> = Promise.resolve()

  constructor(dir: string, own: Pick<RoleStatus, 'role' | 'name'>, now: () => number = Date.now) {
    this.#dir = dir
    this.#now = now
    this.#own = { ...own, state: 'running', step: 0, version: 0, at: now() }
  }

  get own(): RoleStatus {
    return this.#own
  }

  async set(change: Partial<Pick<RoleStatus, 'state' | 'step' | 'version' | 'cause'>>): Promise<void> {
    this.#own = { ...this.#own, ...change, at: this.#now() }
    const text = this.#own
    const path = join(this.#dir, `.status-${encodeURIComponent(text.name)}.json`)
    this.#writing = this.#writing.catch(() => {}).then(() => writeJsonFile(path, text))
    await this.#writing
  }

  /** Everybody else who has ever had a part in the job. */
  async others(role: RoleStatus['role']): Promise<RoleStatus[]> {
    const names = (await readdir(this.#dir)).filter((name) => FILE.test(name))
    const all = await Promise.all(names.map((name) => readJsonObject(join(this.#dir, name)).catch(() => undefined)))
    const known = all.filter((one) => one !== undefined) as unknown as RoleStatus[]
    return known.filter((one) => one.role === role && one.name !== this.#own.name)
  }
}
