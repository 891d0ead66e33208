import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { atomicFile } from '../base/file/atomic-file.js'
import { makeFolder } from '../base/file/make-folder.js'
import { inWords } from '../base/file/system-error.js'
import { wallClock } from '../base/wall-clock.js'
import { type BenchmarkOptions, benchmarkYaml, templateOf } from '../benchmark/index.js'
import { machineFacts } from '../config/index.js'
import { decimal, wholeNumber } from './number.js'
import type { ExitCode } from './print.js'
import { run } from './run.js'

/** As they were given: `--node-num` is `nodeNum`, `--node_num` is `node_num`. */
export interface BenchFlags {
  out: string
  dlc?: boolean
  dryRun?: boolean
  set?: string[]
  pluginDir?: string[]
  [option: string]: unknown
}

/** `trinity bench-rft`: writes the configuration of a benchmark, and runs it. */
export async function benchRft(dataset: string, flags: BenchFlags, now = new Date()): Promise<ExitCode> {
  const template = templateOf(dataset)
  const name = wallClock(now, '-')
  const dir = resolve(flags.out, name)
  const text = benchmarkYaml(template, benchOptions(flags), { name, dir: join(dir, 'checkpoints') })
  const { set, pluginDir, dlc, dryRun } = flags
  const config = join(dir, 'config.yaml')
  if (dryRun) return run({ config, text, set, pluginDir, dryRun })
  await inWords(makeFolder(dir), dir)
  await atomicFile(config, (handle) => handle.writeFile(text))
  process.stdout.write(`configuration: ${config}\n`)
  return run({ config, set, pluginDir, dlc })
}

export function benchOptions(flags: BenchFlags): BenchmarkOptions {
  const text = (...names: string[]) => {
    const found = names.flatMap((one) => [flags[camel(one)], flags[one]]).find((value) => value !== undefined)
    return found === undefined ? undefined : String(found)
  }
  const option = (name: string) => `--${name.replaceAll('_', '-')}`
  const count = (least: number, ...names: string[]) => {
    const given = text(...names)
    return given === undefined ? undefined : wholeNumber(option(names[0]), given, 0, least)
  }
  const rate = (name: string) => (text(name) === undefined ? undefined : decimal(option(name), text(name), 0))
  const local = (path: string | undefined) => (path !== undefined && existsSync(path) ? resolve(path) : path)
  return {
    nodes: count(1, 'node_num') ?? 1,
    gpusPerNode: count(0, 'gpu_per_node') ?? machineFacts().gpus,
    engines: count(1, 'engine_num', 'vllm_engine_num'),
    parallelSize: count(1, 'tp_size', 'vllm_tp_size'),
    engineType: text('engine_type'),
    ratio: rate('explorer_trainer_ratio') ?? 0.6,
    modelPath: local(text('model_path')),
    criticModelPath: local(text('critic_model_path')),
    tasksetPath: local(text('taskset_path')),
    lr: rate('lr'),
    criticLr: rate('critic_lr'),
    syncInterval: count(1, 'sync_interval'),
    syncOffset: count(0, 'sync_offset'),
    syncStyle: text('sync_style'),
    trainerStrategy: text('trainer_strategy'),
    monitor: text('monitor'),
  }
}

/** `node_num` as `nodeNum` */
function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
