import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import type { Folder, RunList, RunSummary } from '../api.js'
import { type FoundRun, findRuns } from './find.js'
import { outsiderOf } from './outsider.js'
import { summarize, unread } from './summary.js'

/** What is younger than this is not looked at again. */
const FRESH_MS = 400
/** New folders are looked for less often: there may be thousands. */
const FIND_MS = 3000
/** Runs that are read at a time. */
const AT_ONCE = 16

interface Known {
  readonly found: FoundRun
  readonly sign: string
  readonly summary: RunSummary
}

/** Every run below the folders, read again when its files have changed. */
export class Runs {
  readonly #folders: readonly string[]
  #told: readonly Folder[] = []
  #known = new Map<string, Known>()
  #foundAt = Number.NEGATIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY
  #found: readonly FoundRun[] = []
  #looking: Promise<void> | undefined

  constructor(folders: readonly string[]) {
    this.#folders = folders
  }

  /** As they were given. */
  get given(): readonly string[] {
    return this.#folders
  }

  async list(): Promise<RunList> {
    await this.#look()
    const runs = [...this.#known.values()].map(({ summary }) => summary)
    return { folders: this.#told, runs: runs.sort((a, b) => b.changed - a.changed) }
  }

  /** As it is now. */
  async summary(id: string): Promise<RunSummary> {
    const { path } = await this.get(id)
    await this.#look()
    const known = this.#known.get(id)
    if (!known) throw gone(path)
    return known.summary
  }

  /** Also of a run that has been there since the last look. */
  async get(id: string): Promise<FoundRun> {
    if (!this.#known.has(id)) await this.#look(true)
    const known = this.#known.get(id)
    if (!known) throw gone(id)
    const outsider = await outsiderOf(known.found)
    if (outsider) throw outsider
    return known.found
  }

  #look(findAll = false): Promise<void> {
    if (!findAll && performance.now() - this.#lookedAt < FRESH_MS) return Promise.resolve()
    this.#looking ??= this.#read(findAll).finally(() => {
      this.#looking = undefined
      this.#lookedAt = performance.now()
    })
    return this.#looking
  }

  async #read(findAll: boolean): Promise<void> {
    if (findAll || performance.now() - this.#foundAt > FIND_MS) {
      const { folders, runs } = await findRuns(this.#folders)
      this.#told = folders
      this.#found = runs
      this.#foundAt = performance.now()
    }
    const next = new Map<string, Known>()
    const left = [...this.#found]
    const work = async () => {
      for (let found = left.pop(); found; found = left.pop()) {
        const known = await this.#one(found)
        if (known) next.set(found.id, known)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    this.#known = next
  }

  /** Undefined: its folder is gone. */
  async #one(found: FoundRun): Promise<Known | undefined> {
    const sign = await signOf(found.path)
    if (sign === undefined) return undefined
    const known = this.#known.get(found.id)
    // A process can end without a word to any file.
    const mayHaveEnded = known !== undefined && known.summary.roles.length > 0
    if (known?.sign === sign && !mayHaveEnded) return known
    const outsider = await outsiderOf(found)
    return { found, sign, summary: await (outsider ? unread(found, outsider) : summarize(found)) }
  }
}

/** Changes whenever a file of the run that is read here changes. */
async function signOf(dir: string): Promise<string | undefined> {
  const top = await readdir(dir).catch(() => undefined)
  if (!top) return undefined
  const paths = top.map((name) => join(dir, name))
  for (const folder of ['log', 'monitor', '.trinity']) {
    const names = await readdir(join(dir, folder)).catch(() => [])
    paths.push(...names.map((name) => join(dir, folder, name)))
  }
  const stats = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)))
  return stats.map((one, i) => `${paths[i].length}:${one?.size}:${one?.mtimeMs}`).join(' ')
}

function gone(what: string): TrinityError {
  return new TrinityError('studio/no-run', `there is no run '${what}' below the folders of this Studio`, {
    hint: 'it was moved or deleted, or Studio was started with other folders',
  })
}
