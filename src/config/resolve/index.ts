import { join } from 'node:path'
import type { Catalog } from '../catalog.js'
import { trainsIn } from '../mode.js'
import type { Problem } from '../problem.js'
import type { Config } from '../section/config.js'
import type { Parsed, ParsedStage } from '../stages.js'
import { resolveAlgorithm } from './algorithm.js'
import { resolveBuffer } from './buffer.js'
import { resolveCluster, resolveMode } from './cluster.js'
import { resolveDataProcessor } from './data-processor.js'
import { noteIgnored, resolveEngines } from './engine.js'
import { finishExplorer, resolveExplorer } from './explorer.js'
import type { Facts } from './facts.js'
import { resolveModel } from './model.js'
import { resolveMonitor } from './monitor.js'
import { Scope } from './scope.js'
import { resolveSynchronizer } from './synchronizer.js'
import { resolveTop } from './top.js'
import { resolveTrainer } from './trainer.js'

/** One stage of a run, with every value derived. */
export interface ResolvedStage {
  readonly name: string | null
  readonly config: Config
  /** Folder of the stage whose newest checkpoint this one starts from; null: model.model_path. */
  readonly startsFrom: string | null
}

/** A configuration that can be run: all stages, and what is to be said about them. */
export interface Resolved {
  readonly file: string
  /** Not everything stands in the file. */
  readonly isOverridden?: boolean
  readonly stages: readonly ResolvedStage[]
  /** Warnings and notes. */
  readonly remarks: readonly Problem[]
}

/** Derives every value that a file leaves open. Throws one error with all problems. */
export function resolveConfig(parsed: Parsed, facts: Facts, catalog: Catalog): Resolved {
  // without a file that it builds on, everything below would be called missing
  if (parsed.problems.errors.some(({ code }) => code === 'extends')) parsed.problems.throwIfErrors(parsed.file)
  let startsFrom: string | null = null
  const stages = parsed.stages.map((stage, i) => {
    const config = resolveStage(stage, facts, catalog, parsed.problems, i < parsed.stages.length - 1)
    const ownModel = stage.tree.entries.has('model') && i > 0 && changesModel(parsed.stages[0], stage)
    const result = { name: stage.name, config, startsFrom: ownModel ? null : startsFrom }
    if (trainsIn(config.mode)) startsFrom = config.checkpoint_job_dir
    return result
  })
  parsed.problems.throwIfErrors(parsed.file)
  const { file, isOverridden, problems } = parsed
  return { file, isOverridden, stages, remarks: problems.remarks }
}

function changesModel(first: ParsedStage, stage: ParsedStage): boolean {
  return stage.config.model.model_path !== first.config.model.model_path
}

/** One stage. Sections depend on each other in this order. */
function resolveStage(
  stage: ParsedStage,
  facts: Facts,
  catalog: Catalog,
  problems: Parsed['problems'],
  feedsNext: boolean,
): Config {
  const scope = new Scope(facts, catalog, stage.config.algorithm.algorithm_type, stage.tree, problems)
  let config: Config = { ...stage.config, extends: null, stages: [] }
  config = { ...config, ...resolveTop(config, scope) }
  const engines = resolveEngines(config, scope)
  config = { ...config, mode: resolveMode(config, engines, scope) }
  config = { ...config, algorithm: resolveAlgorithm(config, scope) }
  config = { ...config, model: resolveModel(config, engines, scope) }
  config = { ...config, explorer: resolveExplorer(config, engines, scope) }
  config = { ...config, cluster: resolveCluster(config, engines, scope) }
  config = { ...config, synchronizer: resolveSynchronizer(config, engines, scope) }
  config = { ...config, explorer: finishExplorer(config, scope) }
  config = { ...config, buffer: resolveBuffer(config, scope) }
  config = { ...config, trainer: resolveTrainer(config, engines, scope) }
  noteIgnored(config, engines, scope)
  config = { ...config, data_processor: resolveDataProcessor(config, scope) }
  if (feedsNext && config.trainer.save_hf_checkpoint === 'never') {
    scope.warn('value', 'trainer.save_hf_checkpoint', 'the next stage needs the last checkpoint: last is used')
    config = { ...config, trainer: { ...config.trainer, save_hf_checkpoint: 'last' } }
  }
  return {
    ...config,
    monitor: resolveMonitor(config, scope),
    log: { ...config.log, save_dir: join(config.checkpoint_job_dir, 'log') },
  }
}
