import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { atomicFile, writeJsonFile } from '../base/file/atomic-file.js'
import { type JsonObject, readJsonObject } from '../base/file/json-file.js'
import { makeFolder } from '../base/file/make-folder.js'
import { peekBestEval, recordEval, rewindEvals } from './best-eval.js'
import type { BestEval, CheckpointParts, FolderWriter, SavedCheckpoint, SavedWeights } from './checkpoint.js'
import { exists, syncPath, syncTree } from './durable.js'
import { claim, type JobIdentity } from './identity.js'
import {
  besideName,
  LATEST_FULL,
  LATEST_WEIGHTS,
  MANIFEST,
  STATE,
  stepName,
  stepsOnDisk,
  WRITTEN,
  weightsPath,
} from './layout.js'
import { JobLock } from './lock.js'
import { damage, describe, type Verified, weightDamage } from './manifest.js'
import { isForeign, isOwn, listedIn } from './owned.js'
import { cleanUp, discard, fullSteps, prune, setAside } from './retention.js'
import { peekSummary, readSummary } from './summary.js'

/** How often a folder is looked at again that changes meanwhile. */
const LOOKS = 5

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
  readonly #told = new Set<string>()
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
    if (roles.length > 0) await makeFolder(dir)
    const locks: JobLock[] = []
    try {
      for (const role of roles) locks.push(await JobLock.take(dir, role))
      if (identity) await claim(dir, identity, options.warn)
      if (roles.includes('trainer')) await cleanUp(dir)
    } catch (error) {
      for (const lock of locks) await lock.release()
      throw error
    }
    return new Checkpoints(options, locks)
  }

  /**
   * Writes a full checkpoint. Returns false if this process wrote it or resumed from it just before: then only the small
   * files beside it are written, which a process that was killed may have left behind the checkpoint.
   */
  async save(step: number, parts: CheckpointParts): Promise<boolean> {
    const isNew = this.#current !== step
    if (isNew)
      await this.#place(step, async (dir) => {
        for (const [name, write] of Object.entries(parts.folders)) await write(join(dir, name))
        await writeJsonFile(join(dir, STATE), parts.state)
        await writeJsonFile(join(dir, MANIFEST), await describe(dir, step))
      })
    for (const [name, meta] of Object.entries(parts.meta ?? {})) await this.writeMeta(name, meta)
    await this.#point(step)
    this.#current = step
    await this.prune()
    return isNew
  }

  /** Writes weights alone, a Hugging Face directory, for samplers of another process. */
  async saveWeights(step: number, write: FolderWriter): Promise<SavedWeights> {
    const path = weightsPath(join(this.dir, stepName(step)))
    if (!(await exists(path))) {
      await this.#place(step, async (dir) => {
        await mkdir(join(dir, 'actor'))
        await write(weightsPath(dir))
        await writeJsonFile(join(dir, WRITTEN), await describe(dir, step))
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
    const steps = named === undefined || full.includes(named) ? full : [...full, named].sort((a, b) => b - a)
    for (const step of steps) {
      const dir = join(this.dir, stepName(step))
      const wrong = await damage(dir, step, this.#verified)
      if (wrong === undefined) {
        // A killed process may not have come to name it; a number that the disk has changed must not cost the work.
        if (named !== undefined && step > named) {
          this.#tell(`${LATEST_FULL} names step ${named}, but the checkpoint of step ${step} is complete: it is taken`)
        }
        this.#current = step
        return this.#saved(step, dir)
      }
      this.#tell(`checkpoint ${dir} cannot be used (${wrong})`)
    }
    if (full.length === 0 && !(await exists(join(this.dir, stepName(named ?? 0))))) return undefined
    throw this.#noneWhole('checkpoints')
  }

  /** What is wrong with the weights of a checkpoint; undefined: they are as they were written. */
  weightDamage(step: number): Promise<string | undefined> {
    return weightDamage(join(this.dir, stepName(step)), step, this.#verified)
  }

  /** All full checkpoints, oldest first, to be looked at one after the other. */
  async all(): Promise<SavedCheckpoint[]> {
    const steps = (await fullSteps(this.dir)).reverse()
    return Promise.all(steps.map((step) => this.#saved(step, join(this.dir, stepName(step)))))
  }

  /**
   * The newest weights that samplers can load, of a full checkpoint or alone, with every file as it was written. Damaged
   * ones are passed over with a warning; that all are damaged is an error.
   */
  async latestWeights(): Promise<SavedWeights | undefined> {
    for (let tries = 0; ; tries++) {
      const candidates = await this.#weightSteps()
      let gone = false
      for (const step of candidates) {
        const wrong = await this.#steadily(step, () => this.weightDamage(step))
        if (wrong === undefined) return this.#weightsOf(step)
        const dir = join(this.dir, stepName(step))
        if (await exists(dir)) this.#tell(`the weights in ${dir} cannot be used (${wrong})`)
        else gone = true
      }
      if (candidates.length === 0) return undefined
      if (!gone || tries === LOOKS) throw this.#noneWhole('weights')
    }
  }

  /** The same without a look at the files: to be shown, not to be loaded. */
  async newestWeights(): Promise<SavedWeights | undefined> {
    const [step] = await this.#weightSteps()
    return step === undefined ? undefined : this.#weightsOf(step)
  }

  /** Takes note of an evaluation of the weights of `step`. `metric` decides; else accuracy, score or reward. */
  recordEval(step: number, metrics: Readonly<Record<string, number>>, metric?: string): Promise<BestEval> {
    return recordEval(this.dir, step, metrics, metric, this.#warn)
  }

  bestEval(): Promise<BestEval | undefined> {
    return peekBestEval(this.dir, (text) => this.#tell(text))
  }

  /** `<name>_meta.json`, for people and tools: what a run resumes from is inside its checkpoint. */
  async writeMeta(name: string, meta: Readonly<Record<string, unknown>>): Promise<void> {
    await writeJsonFile(join(this.dir, `${name}_meta.json`), meta)
  }

  /** Returns undefined if the file does not exist or is damaged; a process that works on the job sets a damaged one aside. */
  readMeta(name: string): Promise<JsonObject | undefined> {
    const path = join(this.dir, `${name}_meta.json`)
    return this.#locks.length > 0 ? readSummary(path, this.#warn) : peekSummary(path, (text) => this.#tell(text))
  }

  /** Deletes what `max_checkpoints_to_keep` does not keep; gives the steps that went. */
  async prune(): Promise<number[]> {
    const [latest, best] = [await this.#read(LATEST_FULL), await this.bestEval()]
    const never = [latest, best?.best.step].filter((step) => step !== undefined)
    return prune(this.dir, this.#keep, never)
  }

  /**
   * Removes checkpoints and evaluations of later steps, which the run makes again, and names `step` as the latest. A full
   * checkpoint that is damaged is kept under another name, so that it can be repaired; folders of others stay.
   * `keepEvals`: another process owns the evaluations and does not repeat them.
   */
  async discardAfter(step: number, { keepEvals = false } = {}): Promise<void> {
    for (const later of (await stepsOnDisk(this.dir)).filter((one) => one > step)) {
      const [name, dir] = [stepName(later), join(this.dir, stepName(later))]
      if (await isForeign(this.dir, name)) continue
      if (await exists(join(dir, MANIFEST))) {
        if ((await damage(dir, later, this.#verified)) === undefined) await discard(this.dir, name)
        else this.#warn(`${dir} is damaged: it is kept as ${await setAside(this.dir, name, 'damaged')}`)
      } else if (await isOwn(this.dir, name)) await discard(this.dir, name)
    }
    await this.#point(step)
    if (!keepEvals) await rewindEvals(this.dir, step, this.#warn)
  }

  /** Lets another process take over. */
  async close(): Promise<void> {
    for (const lock of this.#locks) await lock.release()
  }

  async #place(step: number, fill: (dir: string) => Promise<void>): Promise<void> {
    const name = stepName(step)
    const place = join(this.dir, name)
    const beside = join(this.dir, besideName(name, 'tmp'))
    await makeFolder(beside)
    try {
      await fill(beside)
      await syncTree(beside)
      if ((await exists(place)) && !(await isOwn(this.dir, name))) {
        this.#warn(`${place} is not from this job: it is kept as ${await setAside(this.dir, name, 'aside')}`)
      }
      const old = join(this.dir, besideName(name, 'old'))
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

  /** Steps that have weights, newest first. What says nothing of its files counts only where it is named as the newest. */
  async #weightSteps(): Promise<number[]> {
    const named = await this.#read(LATEST_WEIGHTS)
    const steps: number[] = []
    for (const step of await stepsOnDisk(this.dir)) {
      const dir = join(this.dir, stepName(step))
      if ((await exists(weightsPath(dir))) && (step === named || (await listedIn(dir)))) steps.push(step)
    }
    return steps
  }

  async #weightsOf(step: number): Promise<SavedWeights> {
    const dir = join(this.dir, stepName(step))
    return { step, path: weightsPath(dir), full: await exists(join(dir, MANIFEST)) }
  }

  /** A trainer at work may replace or delete a folder under the hands of a reader: then it is looked at again. */
  async #steadily(step: number, look: () => Promise<string | undefined>): Promise<string | undefined> {
    const dir = join(this.dir, stepName(step))
    const folder = () =>
      stat(dir).then(
        ({ ino }) => ino,
        () => 0,
      )
    for (let tries = 0; ; tries++) {
      const before = await folder()
      const wrong = await look()
      if (wrong === undefined || tries === LOOKS || ((await folder()) === before && before !== 0)) return wrong
    }
  }

  /** Once, however often one looks. */
  #tell(text: string): void {
    if (this.#told.has(text)) return
    this.#told.add(text)
    this.#warn(text)
  }

  #noneWhole(what: string): TrinityError {
    return new TrinityError('checkpoint/damaged', `none of the ${what} in ${this.dir} is complete`, {
      path: this.dir,
      hint: 'restore one from a backup, or start over with --fresh',
    })
  }

  async #saved(step: number, dir: string): Promise<SavedCheckpoint> {
    const state = (await readJsonObject(join(dir, STATE))) ?? {}
    const folders = new Set(await foldersIn(dir))
    return { step, dir, state, folder: (name) => (folders.has(name) ? join(dir, name) : undefined) }
  }

  /** Names a full checkpoint as the latest, also for weights. Step 0 corrects pointers to checkpoints that do not exist. */
  async #point(step: number): Promise<void> {
    for (const name of [LATEST_WEIGHTS, LATEST_FULL]) {
      const named = await this.#read(name)
      if (step > 0 ? named !== step : (named ?? 0) > 0) await this.#write(name, step)
    }
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
