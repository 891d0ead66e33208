import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { Checkpoints } from '../checkpoint/index.js'
import { type Config, machineFacts, type Parsed, readConfig, resolveConfig } from '../config/index.js'
import { loadCatalog } from '../run/catalog.js'
import { FinishMarker } from '../run/marker.js'
import { type AskedRun, assign, runsOf } from './grid.js'
import type { SweepSpec } from './spec.js'

/** A run with everything that is known before it starts. */
export interface PlannedRun extends AskedRun {
  /** Folder of the job; a stage has one in it. */
  readonly dir: string
  /** The last stage with every key filled in: its numbers are compared. */
  readonly config: Config
}

export interface SweepPlan {
  readonly name: string
  /** Folder of the sweep: the folders of the runs, and what comes of them. */
  readonly dir: string
  readonly runs: readonly PlannedRun[]
}

/** Reads the configuration of every run. What is wrong with any of them is found here, before the first starts. */
export async function planSweep(spec: SweepSpec, env: NodeJS.ProcessEnv = process.env): Promise<SweepPlan> {
  const name = spec.name ?? 'sweep'
  const root = spec.checkpoint_root_dir ?? env.TRINITY_CHECKPOINT_ROOT_DIR ?? './checkpoints'
  const asked = runsOf(spec).map((run) => placed(run, name, root, spec.seed_keys))
  const parsed = asked.map(({ file, set }) => readConfig(file, { set }))
  const catalog = await loadCatalog(parsed)
  const facts = machineFacts()
  const runs = asked.map((run, i): PlannedRun => {
    const { stages } = resolveConfig(parsed[i], facts, catalog)
    const { config } = stages[stages.length - 1]
    if (config.mode === 'bench' || config.mode === 'serve') throw notCompared(run, config)
    return { ...run, dir: join(root, name, run.id), config }
  })
  return { name, dir: join(root, name), runs }
}

const NUMBERS = { 'monitor.monitor_type': 'jsonl' }

/** With its seed, and a folder of its own in that of the sweep. */
function placed(run: AskedRun, project: string, root: string, seedKeys?: readonly string[]): AskedRun {
  const { seed, id, file, set } = run
  const given = readConfig(file, { set })
  const keys = seed === undefined ? [] : (seedKeys ?? seedsIn(given))
  // without a file of numbers there is nothing to compare
  const isSilent = given.stages.at(-1)?.config.monitor.monitor_type === 'none'
  const own = { checkpoint_root_dir: root, project, group: '', name: id }
  const more = { ...Object.fromEntries(keys.map((key) => [key, seed])), ...(isSilent && NUMBERS), ...own }
  return { ...run, set: [...set, ...Object.entries(more).map(([key, value]) => assign(key, value))] }
}

/** Where a configuration takes its randomness from: what is sampled, and the order of the data. */
function seedsIn({ stages }: Parsed): string[] {
  const { mode, buffer } = stages[0].config
  if (mode === 'train') return ['buffer.trainer_input.experience_buffer.data_selector.seed']
  const { taskset, tasksets } = buffer.explorer_input
  const sets = taskset ? ['taskset'] : tasksets.map((_, i) => `tasksets.${i}`)
  return ['explorer.rollout_model.seed', ...sets.map((set) => `buffer.explorer_input.${set}.data_selector.seed`)]
}

function notCompared({ file }: AskedRun, { mode }: Config): TrinityError {
  return new TrinityError('config/sweep', `mode ${mode} trains nothing that a sweep could compare`, {
    path: file,
    hint: 'sweep configurations that train or explore',
  })
}

/** Whether a run has got to its end, as far as it is asked for now. */
export async function isFinished({ config }: Pick<PlannedRun, 'config'>): Promise<boolean> {
  const dir = config.checkpoint_job_dir
  if (!existsSync(dir)) return false
  const checkpoints = await Checkpoints.open({ dir })
  try {
    return (await new FinishMarker(checkpoints, config).read()) !== undefined
  } finally {
    await checkpoints.close()
  }
}
