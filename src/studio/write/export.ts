import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { LogRing } from '../../base/log/log-ring.js'
import { redact } from '../../base/secret/index.js'
import { stepName, stepsOnDisk } from '../../checkpoint/layout.js'
import type { Exported, ExportQuery } from '../api.js'
import type { FoundRun } from '../run/find.js'
import { isBelow, outside, realPlace } from './place.js'

const LINES = 12

interface Export extends Omit<Exported, 'output'> {
  readonly run: string
  readonly said: LogRing
}

/** Where exports of a run lie: in its folder, which is below those of Studio, and kept when the run is deleted. */
export const exportFolder = ({ path }: FoundRun) => join(path, 'exports')

/** The type that is a directory for any loader of Hugging Face models; others are GGUF files. */
export const HF = 'hf'

/** Writes checkpoints for other programs, one at a time, in a process that ends with this one. */
export class Exporter {
  readonly #program: readonly string[]
  readonly #exports: Export[] = []
  #child: ChildProcess | undefined

  /** `program`: how this program is started, the interpreter and the script. */
  constructor(program: readonly string[]) {
    this.#program = program
  }

  async start(run: FoundRun, { step, type, isSure = false }: ExportQuery): Promise<Exported> {
    if (!(await stepsOnDisk(run.path)).includes(step)) {
      throw new TrinityError('studio/no-checkpoint', `the run has no checkpoint of step ${step}`, {
        path: 'step',
        hint: 'newer ones may have taken its place: look at the list again',
      })
    }
    const file = await realPlace(
      join(exportFolder(run), `${basename(run.path)}-step-${step}-${type}${type === HF ? '' : '.gguf'}`),
    )
    const checkpoint = join(run.path, stepName(step))
    for (const path of [checkpoint, file]) if (!(await isBelow([run.root], path))) throw outside(path)
    if (existsSync(file) && !isSure) {
      throw new TrinityError('studio/exists', `${file} exists already`, { path: file, hint: 'replace it' })
    }
    // nothing is awaited between this look and the process: two at once would both find nobody
    if (this.#child !== undefined) {
      throw new TrinityError('studio/busy', 'another export is under way', { hint: 'wait until it has ended' })
    }
    const from = ['convert', '--checkpoint-dir', checkpoint]
    const to = type === HF ? ['--to', HF] : ['--to', 'gguf', '--type', type]
    const out = ['--out', file, ...(isSure ? ['--overwrite'] : [])]
    const made = { run: run.id, step, type, file, began: Date.now() / 1000, said: new LogRing() }
    this.#spawn([...from, ...to, ...out], made)
    return shown(made)
  }

  /** Those of this Studio, latest first. */
  of(run: string): Exported[] {
    return this.#exports
      .filter((one) => one.run === run)
      .map(shown)
      .reverse()
  }

  async close(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    const gone = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    await gone
  }

  #spawn(args: readonly string[], made: Export): void {
    const [command, ...first] = this.#program
    const child = spawn(command, [...first, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1' },
    })
    const { said } = made
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => said.push(text))
    child.on('error', ({ message }) => said.push(`${message}\n`))
    const at = this.#exports.push(made) - 1
    this.#child = child
    // comes after an error too
    child.once('close', (code, signal) => {
      this.#child = undefined
      this.#exports[at] = { ...made, exit: signal ?? `code ${code}` }
    })
  }
}

function shown({ run: _, said, ...rest }: Export): Exported {
  return { ...rest, output: said.last(LINES).map((line) => redact(line)) }
}
