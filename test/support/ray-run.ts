import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from './doc-blocks.js'
import { type RayCluster, rayPython } from './ray.js'

type RunKeys = Readonly<Record<string, unknown>>

/** Runs of one small configuration, on a Ray: the torch engine trains and samples, each step is saved. */
export class RayRuns {
  readonly #dir: string
  /** Where the next one runs. */
  cluster: RayCluster
  readonly #steps: number
  readonly #keys: RunKeys

  constructor(dir: string, cluster: RayCluster, steps: number, keys: RunKeys = {}) {
    this.#dir = dir
    this.cluster = cluster
    this.#steps = steps
    this.#keys = keys
  }

  /** Of the quickstart, or of another example. */
  start(name: string, example = 'quickstart/quickstart.yaml', keys: RunKeys = {}): ChildProcess {
    const all = {
      name,
      checkpoint_root_dir: this.#dir,
      'cluster.ray_address': this.cluster.address,
      'cluster.gpu_per_node': 2,
      'trainer.trainer_type': 'torch',
      'trainer.save_interval': 1,
      'explorer.rollout_model.engine_type': 'torch',
      'explorer.eval_on_startup': false,
      'explorer.eval_interval': 100,
      'buffer.total_steps': this.#steps,
      'buffer.batch_size': 4,
      ...this.#keys,
      ...keys,
    }
    const set = Object.entries(all).flatMap(([key, value]) => ['--set', `${key}=${value}`])
    const main = [join(root, 'dist/cli/main.js'), 'run', '-c', join(root, 'examples', example)]
    return spawn(process.execPath, [...main, ...set], { env: { ...process.env, TRINITY_RAY_PYTHON: rayPython.path } })
  }

  folder(name: string): string {
    return join(this.#dir, 'quickstart', name)
  }

  /** Those of the last step. */
  weights(name: string): Buffer {
    return readFileSync(join(this.folder(name), `global_step_${this.#steps}`, 'actor/huggingface/model.safetensors'))
  }

  /** By what `trinity status` reads; `of`: the process that must have written it. */
  workers(name: string, of?: number): { name: string; pid: number; state: string }[] {
    const file = join(this.folder(name), 'log/workers.json')
    const { pid, workers } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { workers: [] }
    return of === undefined || of === pid ? workers : []
  }

  has(name: string, step: number): boolean {
    return existsSync(this.#mark(name, step))
  }

  /** Of a run that has ended, without its start. */
  stepMs(name: string): number {
    const savedMs = (step: number) => statSync(this.#mark(name, step)).mtimeMs
    return (savedMs(this.#steps) - savedMs(1)) / (this.#steps - 1)
  }

  async reaches(name: string, step: number): Promise<void> {
    while (!this.has(name, step)) await sleep(100)
  }

  #mark(name: string, step: number): string {
    return join(this.folder(name), `global_step_${step}`, '.full_checkpoint')
  }
}

/** How a run ended, and what it said. */
export async function ended(run: ChildProcess): Promise<{ code: number | null; text: string }> {
  let text = ''
  const hear = (data: unknown) => {
    text += data
  }
  run.stdout?.on('data', hear)
  run.stderr?.on('data', hear)
  const [code] = await once(run, 'close')
  return { code, text }
}
