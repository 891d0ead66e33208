import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { atomicFile, writeJsonFile } from '../base/file/atomic-file.js'
import { type JsonObject, readJsonObject } from '../base/file/json-file.js'
import { readBestEval, recordEval, rewindEvals } from './best-eval.js'
import type { BestEval, CheckpointParts, FolderWriter, SavedCheckpoint, SavedWeights } from './checkpoint.js'
import { exists, filesBelow, syncPath, syncTree } from './durable.js'
import { claim, type JobIdentity } from './identity.js'
import { LATEST_FULL, LATEST_WEIGHTS, MANIFEST, STATE, stepName, stepsOnDisk, WRITTEN, weightsPath } from './layout.js'
import { JobLock } from './lock.js'
import { damage, describe, type Verified } from './manifest.js'
import { cleanUp, discard, fullSteps, prune } from './retention.js'

export interface CheckpointsOptions {
  /** `checkpoint_job_dir`; made when it is not there. */
  dir: string
  /** What this process is in the job: `trainer`, `explorer`, both. None: it only looks. */
  roles?: readonly string[]
  identity?: JobIdentity
  /** `max_checkpoints_to_keep` */
  keep?: number
  /** Told what a person should know, such as a damaged checkpoint. */
  warn?: (text: string) => void
}

/**
 * The checkpoints of a job directory.
 *
 * A checkpoint is written beside its place, put on the disk and renamed; `latest_checkpointed_iteration.txt` changes
 * last. So at every moment the folder opens to a complete checkpoint, or to none before the first.
 */
export class Checkpoints {
  readonly dir: string
  readonly #keep: number
  readonly #warn: (text: string) => void
  readonly #locks: readonly JobLock[]
  readonly #verified: Verified = new Map()
  /** Step whose checkpoint on disk is this process's own state. */
  #current: number | undefined

  private constructor(options: CheckpointsOptions, locks: readonly JobLock[]) {
    this.dir = options.dir
    this.#keep = options.keep ?? 0
    this.#warn = options.warn ?? (() => {})
    this.#locks = locks
  }

  static async open(options: CheckpointsOptions): Promise<Checkpoints> {
    const { dir, roles = [], identity } = options
    if (roles.length > 0) await mkdir(dir, { recursive: true })
    const locks: JobLock[] = []
    try {
      for (const role of roles) locks.push(await JobLock.take(dir, role))
      if (identity) await claim(dir, identity)
      if (roles.includes('trainer')) await cleanUp(dir)
    } catch (error) {
      for (const lock of locks) await lock.release()
      throw error
    }
    return new Checkpoints(options, locks)
  }

  /** Writes a full checkpoint; false: this process wrote or resumed from it just before, so it is there. */
  async save(step: number, parts: CheckpointParts): Promise<boolean> {
    if (this.#current === step) return false
    await this.#place(step, async (dir) => {
      for (const [name, write] of Object.entries(parts.folders)) await write(join(dir, name))
      await writeJsonFile(join(dir, STATE), parts.state)
      await writeJsonFile(join(dir, MANIFEST), await describe(dir, step))
    })
    for (const [name, meta] of Object.entries(parts.meta ?? {})) await this.writeMeta(name, meta)
    await this.#write(LATEST_WEIGHTS, step)
    await this.#write(LATEST_FULL, step)
    this.#current = step
    await this.prune()
    return true
  }

  /** Writes weights alone, a Hugging Face directory, for samplers of another process. */
  async saveWeights(step: number, write: FolderWriter): Promise<SavedWeights> {
    const path = weightsPath(join(this.dir, stepName(step)))
    if (!(await exists(path))) {
      await this.#place(step, async (dir) => {
        await mkdir(join(dir, 'actor'))
        await write(weightsPath(dir))
        await writeJsonFile(join(dir, WRITTEN), { files: await filesBelow(dir) })
      })
    }
    await this.#write(LATEST_WEIGHTS, step)
    await this.prune()
    return { step, path, full: this.#current === step }
  }

  /**
   * The newest complete checkpoint, with every file as it was written. A damaged one is passed over with a warning;
   * that all are damaged is an error, because starting from nothing would throw the work away.
   */
  async latest(): Promise<SavedCheckpoint | undefined> {
    const named = await this.#read(LATEST_FULL)
    const full = await fullSteps(this.dir)
    const steps = named === undefined ? full : [named, ...full.filter((step) => step < named)]
    for (const step of steps) {
      const dir = join(this.dir, stepName(step))
      const wrong = await damage(dir, step, this.#verified)
      if (wrong === undefined) {
        this.#current = step
        return this.#saved(step, dir)
      }
      this.#warn(`checkpoint ${dir} cannot be used (${wrong})`)
    }
    if (full.length === 0 && !(await exists(join(this.dir, stepName(named ?? 0))))) return undefined
    throw new TrinityError('checkpoint/damaged', `none of the checkpoints in ${this.dir} is complete`, {
      path: this.dir,
      hint: 'restore one from a backup, or start over with --fresh',
    })
  }

  /** All full checkpoints, oldest first, to be looked at one after the other. */
  async all(): Promise<SavedCheckpoint[]> {
    const steps = (await fullSteps(this.dir)).reverse()
    return Promise.all(steps.map((step) => this.#saved(step, join(this.dir, stepName(step)))))
  }

  /** The newest weights that samplers can load, of a full checkpoint or alone. */
  async latestWeights(): Promise<SavedWeights | undefined> {
    const named = await this.#read(LATEST_WEIGHTS)
    const onDisk = await stepsOnDisk(this.dir)
    for (const step of named === undefined ? onDisk : onDisk.filter((one) => one <= named)) {
      const dir = join(this.dir, stepName(step))
      if (await exists(weightsPath(dir))) {
        return { step, path: weightsPath(dir), full: await exists(join(dir, MANIFEST)) }
      }
    }
    return undefined
  }

  /** Takes note of an evaluation of the weights of `step`. `metric` decides; else accuracy, score or reward. */
  recordEval(step: number, metrics: Readonly<Record<string, number>>, metric?: string): Promise<BestEval> {
    return recordEval(this.dir, step, metrics, metric)
  }

  bestEval(): Promise<BestEval | undefined> {
    return readBestEval(this.dir)
  }

  /** `<name>_meta.json`, for people and tools: what a run resumes from is inside its checkpoint. */
  async writeMeta(name: string, meta: Readonly<Record<string, unknown>>): Promise<void> {
    await writeJsonFile(join(this.dir, `${name}_meta.json`), meta)
  }

  readMeta(name: string): Promise<JsonObject | undefined> {
    return readJsonObject(join(this.dir, `${name}_meta.json`))
  }

  /** Deletes what `max_checkpoints_to_keep` does not keep; gives the steps that went. */
  async prune(): Promise<number[]> {
    const [latest, best] = [await this.#read(LATEST_FULL), await this.bestEval()]
    const never = [latest, best?.best.step].filter((step) => step !== undefined)
    return prune(this.dir, this.#keep, never)
  }

  /** Removes what a run that went further than `step` left behind: it is made again. */
  async discardAfter(step: number): Promise<void> {
    for (const later of (await stepsOnDisk(this.dir)).filter((one) => one > step)) {
      await discard(this.dir, stepName(later))
    }
    const named = await this.#read(LATEST_WEIGHTS)
    if (named !== undefined && named > step) await this.#write(LATEST_WEIGHTS, step)
    await rewindEvals(this.dir, step)
  }

  /** Lets another process take over. */
  async close(): Promise<void> {
    for (const lock of this.#locks) await lock.release()
  }

  async #place(step: number, fill: (dir: string) => Promise<void>): Promise<void> {
    const place = join(this.dir, stepName(step))
    const mark = `${process.pid}-${randomBytes(4).toString('hex')}`
    const beside = `${place}.tmp-${mark}`
    await mkdir(beside, { recursive: true })
    try {
      await fill(beside)
      await syncTree(beside)
      const old = `${place}.old-${mark}`
      const replaced = await exists(place)
      if (replaced) await rename(place, old)
      await rename(beside, place)
      await syncPath(this.dir)
      if (replaced) await rm(old, { recursive: true, force: true })
    } catch (error) {
      await rm(beside, { recursive: true, force: true })
      throw error
    }
  }

  async #saved(step: number, dir: string): Promise<SavedCheckpoint> {
    const state = (await readJsonObject(join(dir, STATE))) ?? {}
    const folders = new Set(await foldersIn(dir))
    return { step, dir, state, folder: (name) => (folders.has(name) ? join(dir, name) : undefined) }
  }

  async #write(name: string, step: number): Promise<void> {
    await atomicFile(join(this.dir, name), (handle) => handle.writeFile(`${step}\n`))
    await syncPath(this.dir)
  }

  async #read(name: string): Promise<number | undefined> {
    const text = await readFile(join(this.dir, name), 'utf8').catch(() => '')
    return /^\d+\s*$/.test(text) ? Number(text) : undefined
  }
}

async function foldersIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
}
