import { spawn } from 'node:child_process'
import { open, readFile } from 'node:fs/promises'
import { messageOf, TrinityError } from '../../base/error.js'
import { redact } from '../../base/secret/index.js'
import type { Started } from '../api.js'

const LINES = 40
const LONGEST = 1 << 16

export interface StartOptions {
  /** How this program is started: the interpreter and the script. */
  readonly program: readonly string[]
  readonly pluginDirs: readonly string[]
}

/** What is started: a file, and the run that it makes. */
export interface ToStart {
  readonly file: string
  readonly run: string
  readonly isFresh?: boolean
}

/** Starts runs as processes of their own, which go on when this one ends. */
export class Starter {
  readonly #options: StartOptions
  readonly #started: (Omit<Started, 'output'> & { readonly log: string })[] = []

  constructor(options: StartOptions) {
    this.#options = options
  }

  async start({ file, run, isFresh }: ToStart): Promise<Started> {
    const before = this.#started.find((one) => one.file === file && one.exit === undefined)
    if (before) {
      throw new TrinityError('studio/busy', `process ${before.pid} runs this file already`, {
        path: file,
        hint: 'wait until it ends, or stop it',
      })
    }
    const { program, pluginDirs } = this.#options
    const [command, ...first] = program
    const plugins = pluginDirs.flatMap((dir) => ['--plugin-dir', dir])
    const fresh = isFresh ? ['--fresh', '--yes'] : []
    const log = file.replace(/\.ya?ml$/, '.log')
    const handle = await open(log, 'w').catch((cause) => {
      throw new TrinityError('studio/start', `cannot write ${log}: ${messageOf(cause)}`, { path: log, cause })
    })
    try {
      // in a session of its own: neither Ctrl-C here nor our end reaches it
      const child = spawn(command, [...first, 'run', '--config', file, ...plugins, ...fresh], {
        detached: true,
        stdio: ['ignore', handle.fd, handle.fd],
        env: { ...process.env, NO_COLOR: '1' },
      })
      await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
      child.unref()
      const at = this.#started.push({ pid: child.pid as number, file, run, began: Date.now() / 1000, log }) - 1
      child.once('exit', (code, signal) => {
        this.#started[at] = { ...this.#started[at], exit: signal ?? `code ${code}` }
      })
      return await this.#shown(at)
    } finally {
      await handle.close()
    }
  }

  /** Those of this Studio, latest first. */
  async list(): Promise<Started[]> {
    const all = await Promise.all(this.#started.map((_, at) => this.#shown(at)))
    return all.reverse()
  }

  async #shown(at: number): Promise<Started> {
    const { log, ...rest } = this.#started[at]
    const text = await readFile(log, 'utf8').catch(() => '')
    const lines = redact(text.slice(-LONGEST)).trimEnd().split('\n').slice(-LINES)
    return { ...rest, output: lines.filter((line) => line !== '') }
  }
}
