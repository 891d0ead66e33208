import { createWriteStream, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { OwnedProcess } from '../machine/owned-process.js'
import type { PlannedRun } from './plan.js'

export interface ChildOptions {
  /** How this program is started: the interpreter and the script. */
  readonly program: readonly string[]
  readonly pluginDirs: readonly string[]
  /** Of the native engine; undefined: what it takes by itself. */
  readonly threads?: number
  /** Deletes what earlier runs have left. */
  readonly isFresh: boolean
  /** Gets everything that it prints. */
  readonly log: string
}

/** A run of a sweep as a process of its own, which ends with this one whatever way this one ends. */
export class ChildRun {
  readonly run: PlannedRun
  /** What went wrong, in the words of the run; undefined: nothing. */
  readonly failed: Promise<string | undefined>
  readonly #process: OwnedProcess

  constructor(run: PlannedRun, { program, pluginDirs, threads, isFresh, log }: ChildOptions) {
    this.run = run
    const [command, ...first] = program
    const set = run.set.flatMap((one) => ['--set', one])
    const plugins = pluginDirs.flatMap((dir) => ['--plugin-dir', dir])
    const fresh = isFresh ? ['--fresh', '--yes'] : []
    const file = createWriteStream(log, { flags: 'a' })
    // a full disk is for the run itself to tell
    file.on('error', () => {})
    this.#process = new OwnedProcess({
      command,
      args: [...first, 'run', '-c', run.file, '--end-with-stdin', ...set, ...plugins, ...fresh],
      env: {
        ...(threads !== undefined && { TRINITY_NATIVE_THREADS: String(threads) }),
        ...process.env,
        NO_COLOR: '1',
      },
      log: (line) => file.write(`${line}\n`),
    })
    this.#process.keepsAlive(true)
    this.failed = this.#end().finally(() => file.end())
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** It has trained a step: from now on it takes about as much memory as it ever will. */
  get isWarm(): boolean {
    const file = join(this.run.config.checkpoint_job_dir, 'monitor', 'trainer.jsonl')
    return existsSync(file) && statSync(file).size > 0
  }

  /** Asks it to finish its step and save. */
  stop(): void {
    if (this.pid !== undefined && this.#process.exit === undefined) process.kill(this.pid, 'SIGTERM')
  }

  kill(): void {
    this.#process.kill()
  }

  async #end(): Promise<string | undefined> {
    const { code, signal, error } = await this.#process.exited
    // what it said last may still be on its way
    await finished(this.#process.output).catch(() => {})
    if (code === 0) return undefined
    const { log } = this.#process
    return error?.message ?? log.find('error ') ?? log.find('partial ') ?? `it ended with ${signal ?? `code ${code}`}`
  }
}
