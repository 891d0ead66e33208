import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { cli, type Ended, trinity } from '../run/cli-kit.js'

export const root = resolve(import.meta.dirname, '../..')
export const PLUGINS = join(root, 'examples/plugins/code')

/** Every configuration of a run among the examples, relative to `examples/`. */
export function exampleFiles(): string[] {
  return readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml') && !name.endsWith('sweep.yaml'))
    .sort()
}

const DRY_RUNS = join(import.meta.dirname, 'dry-runs.fixture.mjs')

/** What commands say that run nothing, one after the other in one process. */
export function dryRuns(
  commands: readonly (readonly string[])[],
  env: NodeJS.ProcessEnv = {},
): { code: number; text: string }[] {
  const printed = execFileSync(process.execPath, [DRY_RUNS, join(dirname(cli), 'program.js')], {
    cwd: root,
    encoding: 'utf8',
    input: JSON.stringify(commands),
    maxBuffer: 2 ** 26,
    env: { ...env, ...process.env },
  })
  return printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

export interface Tried extends Ended {
  /** Metrics of a role by step. */
  metrics(job: string, role: string): { step: number; metrics: Record<string, number> }[]
}

/** Runs an example from the root of the repository, as its page says, with a folder of its own for what it writes. */
export class Example {
  readonly out = mkdtempSync(join(tmpdir(), 'trinity-example-'))

  async run(
    file: string,
    set: Record<string, unknown> = {},
    more: string[] = [],
    seen?: Parameters<typeof trinity>[2],
  ): Promise<Tried> {
    const settings = { checkpoint_root_dir: this.out, ...set }
    const args = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
    const ended = await trinity(root, ['run', '-c', `examples/${file}`, ...args, ...more], seen)
    return { ...ended, metrics: (job, role) => this.metrics(job, role) }
  }

  metrics(job: string, role: string): { step: number; metrics: Record<string, number> }[] {
    const file = join(this.out, job, 'monitor', `${role}.jsonl`)
    return readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }

  /** A metric at each step that has it. */
  series(job: string, role: string, name: string): number[] {
    return this.metrics(job, role).flatMap(({ metrics }) => (name in metrics ? [metrics[name]] : []))
  }

  close(): void {
    rmSync(this.out, { recursive: true, force: true })
  }
}
