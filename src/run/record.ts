import { readdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { messageOf, TrinityError } from '../base/error.js'
import { writeJsonFile } from '../base/file/atomic-file.js'
import { isJsonObject, readJsonObject } from '../base/file/json-file.js'
import { makeFolder } from '../base/file/make-folder.js'
import { isRunMark, runMark } from '../checkpoint/job-mark.js'
import { MARKS } from '../checkpoint/layout.js'
import type { Config } from '../config/index.js'
import { concealed } from '../config/secret.js'
import { forward } from '../monitor/forward.js'
import type { Settings } from './changed.js'
import type { ProgressView } from './job.js'
import type { StageEnd } from './stage.js'

/** How a run ended: `before` is one that found everything done. */
export type RecordedEnd = StageEnd['end'] | 'failed'

/** What the last process of its kind in a job directory was asked for, and what became of it. */
export interface RunRecord {
  readonly pid: number
  readonly host: string
  /** ISO 8601. */
  readonly began: string
  /** The file that was given, where there was one and all of it stands there. */
  readonly file?: string
  /** As it was resolved, without secrets. */
  readonly config: Config
  /** What the newest checkpoint was made with when this process began, where it is known. */
  readonly before?: Settings
  /** Steps that a role will make in all, where known. */
  readonly expects: Readonly<Record<string, number>>
  /** What its engines plan of device memory, in words; none: they plan nothing. */
  readonly memory?: readonly (readonly [label: string, text: string])[]
  readonly end?: {
    readonly how: RecordedEnd
    readonly at: string
    readonly error?: { readonly code?: string; readonly message: string; readonly hint?: string }
  }
}

/**
 * Writes `.trinity/run-<kind>.json` for people and tools that look at a run. A run reads it only to say what is set
 * differently now, so one that cannot be written is nobody's concern.
 */
export class RunRecorder {
  readonly #path: string
  #record: RunRecord
  #writing: Promise<void> = Promise.resolve()
  #planning: Promise<void> = Promise.resolve()

  constructor(dir: string, config: Config, now = new Date(), file?: string, before?: Settings) {
    const kind = config.mode === 'explore' || config.mode === 'serve' ? config.explorer.name : config.mode
    this.#path = join(dir, MARKS, runMark(kind))
    const about = { pid: process.pid, host: hostname(), began: now.toISOString(), file: file && resolve(file) }
    this.#record = { ...about, config: concealed(config), before, expects: {} }
    this.#write({})
  }

  /** Takes note of the steps that the view is told to expect. */
  watch(view: ProgressView): ProgressView {
    const expect = (role: string, steps: number) => {
      // an unknown number may be infinite, which JSON has no word for
      if (Number.isFinite(steps)) this.#write({ expects: { ...this.#record.expects, [role]: steps } })
      view.expect?.(role, steps)
    }
    return { ...forward(view), expect }
  }

  /** Takes note of the memory that is planned, when somebody has computed it. */
  plan(memory: Promise<NonNullable<RunRecord['memory']>>): void {
    this.#planning = memory.then(
      (lines) => this.#write({ memory: lines }),
      () => undefined,
    )
  }

  async end(how: RecordedEnd, cause?: unknown): Promise<void> {
    const { code, hint } = cause instanceof TrinityError ? cause : {}
    const error = cause === undefined ? undefined : { code, message: messageOf(cause), hint }
    // nothing is written into the folder after the end
    await this.#planning
    this.#write({ end: { how, at: new Date().toISOString(), error } })
    await this.#writing
  }

  #write(change: Partial<RunRecord>): void {
    this.#record = { ...this.#record, ...change }
    const record = this.#record
    this.#writing = this.#writing
      .then(() => makeFolder(join(this.#path, '..')))
      .then(() => writeJsonFile(this.#path, record))
      .catch(() => {})
  }
}

/** The records in a job directory, latest first. Runs of earlier releases have left none. */
export async function readRecords(dir: string): Promise<RunRecord[]> {
  const names = await readdir(join(dir, MARKS)).catch(() => [])
  const all = await Promise.all(
    names.filter(isRunMark).map((name) => readJsonObject(join(dir, MARKS, name)).catch(() => undefined)),
  )
  const records = all.filter((one) => typeof one?.began === 'string' && isJsonObject(one.config))
  return (records as unknown as RunRecord[]).sort((a, b) => (a.began < b.began ? 1 : -1))
}
