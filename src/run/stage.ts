import { join } from 'node:path'
import { inWords, systemError } from '../base/file/system-error.js'
import { openLogDir } from '../base/log/log-dir.js'
import type { Logger } from '../base/log/logger.js'
import { type BestEval, Checkpoints, type JobIdentity } from '../checkpoint/index.js'
import { markJob } from '../checkpoint/job-mark.js'
import type { Config, ResolvedStage } from '../config/index.js'
import type { OpenEngine } from '../engine/registry.js'
import type { Monitor } from '../monitor/monitor.js'
import { fileName } from '../monitor/names.js'
import type { RunCounts } from '../monitor/run-counts.js'
import { SPANS, SpanFile } from '../monitor/span/span-file.js'
import { hasTasks, runTaskPipeline } from '../pipeline/task-pipeline.js'
import { runBench } from './bench.js'
import { runBoth } from './both.js'
import { settingsOf } from './changed.js'
import { type Closers, withClosers } from './closers.js'
import { withDataJuicer } from './data-juicer.js'
import { runExplore } from './explore.js'
import type { ModeEnd, ProgressView, RunMode } from './job.js'
import { JobFolders, jobPlaces } from './job-folders.js'
import { jobName } from './job-name.js'
import { FinishMarker } from './marker.js'
import { memoryOf } from './memory.js'
import { newestModel } from './newest-model.js'
import { otherSettings, settingsOfCheckpoint } from './other-settings.js'
import { RunRecorder } from './record.js'
import { runServe } from './serve.js'
import { Startup } from './startup.js'
import type { Stop } from './stop.js'
import { runTrain } from './train.js'

export interface StageContext {
  readonly view: ProgressView
  readonly stop: Stop
  readonly openEngine: OpenEngine
  openMonitor(options: { config: Config; role: string; logger: Logger }): Promise<Monitor>
  /** What the run is made from, where all of it stands in a file. */
  readonly file: string | undefined
  /** The user asked for the trainer's engine by name. */
  readonly engineNamed: boolean
  /** When it was asked for, as `performance.now()` says it. */
  readonly began: number
}

export interface StageEnd {
  /** `before`: an earlier run has finished it. */
  readonly end: ModeEnd['end'] | 'before'
  /** `partial`: what is missing and why. */
  readonly reason?: string
  readonly counts?: RunCounts
  readonly steps: number
  readonly best?: BestEval
  /** What an earlier run that has finished was asked differently. */
  readonly changed?: readonly string[]
}

const MODES: Readonly<Record<Config['mode'], { run: RunMode; roles: (config: Config) => string[] }>> = {
  both: { run: runBoth, roles: ({ explorer }) => ['trainer', explorer.name] },
  colocate: { run: runBoth, roles: ({ explorer }) => ['trainer', explorer.name] },
  train: { run: runTrain, roles: () => ['trainer'] },
  explore: { run: runExplore, roles: ({ explorer }) => [explorer.name] },
  bench: { run: runBench, roles: () => [] },
  serve: { run: runServe, roles: ({ explorer }) => [explorer.name] },
}

/** Runs one stage to its end, to a stop, or to its first failure. */
export async function runStage(stage: ResolvedStage, context: StageContext): Promise<StageEnd> {
  const { config } = stage
  const mode = MODES[config.mode]
  const { view, stop } = context
  const dir = config.checkpoint_job_dir
  // before the first file: what lies there already is not this job's
  await inWords(markJob(dir, jobName(config)), dir, 'config/unusable-folder')
  return withClosers(async (closers) => {
    /** Into the log and onto the screen. */
    const loud = (log: Logger) => (text: string) => {
      log.warn(text)
      view.note(text)
    }
    const logs = closers.add(
      openLogDir({ dir: config.log.save_dir, level: config.log.level, groupByNode: config.log.group_by_node }),
    )
    const logger = logs.logger('run')
    const note = loud(logger)
    const checkpoints = closers.add(
      await Checkpoints.open({
        dir: config.checkpoint_job_dir,
        roles: mode.roles(config),
        identity: config.mode === 'bench' ? undefined : identityOf(config),
        keep: config.trainer.max_checkpoints_to_keep,
        warn: note,
      }),
    )
    const folders = closers.add(new JobFolders(jobPlaces(config), (error) => stop.fail(error)))
    const marker = new FinishMarker(checkpoints, config)
    const ends = config.mode !== 'bench' && config.mode !== 'serve'
    const before = ends ? await marker.read() : undefined
    const made = await settingsOfCheckpoint(dir)
    const record = new RunRecorder(dir, config, new Date(), context.file, made)
    record.plan(memoryOf(config, undefined).then(({ lines }) => lines))
    if (before !== undefined) {
      await record.end('before')
      return { end: 'before', steps: before, changed: await marker.changed() }
    }
    try {
      const startFrom = stage.startsFrom === null ? null : await newestModel(stage.startsFrom, note)
      const due = await tasksDue(config, checkpoints, note)
      const ready = await withDataJuicer(config, due, { logs, closers, signal: stop.now, note })
      if (due) await prepareTasks(ready, stop.now, note)
      const openMonitor = (role: string) => {
        const own = logs.logger(role)
        return context.openMonitor({ config, role, logger: { ...own, warn: loud(own) } })
      }
      const startup = new Startup(logger, context.began)
      const result = await mode.run({
        ...context,
        view: startup.watch(record.watch(view)),
        startup,
        otherSettings: made ? otherSettings(made, settingsOf(config)) : [],
        config: ready,
        startFrom,
        checkpoints,
        logs,
        closers,
        openMonitor,
        spans: spansOf(config, mode.roles(config)[0], closers),
        note,
      })
      if (stop.failure !== undefined) throw stop.failure
      await folders.check()
      if (result.end === 'finished' && ends) await marker.write(result.steps)
      if (result.end === 'partial') logger.warn(`the run ended ${result.reason}`)
      await record.end(result.end, result.reason)
      return result
    } catch (cause) {
      const error = stop.failure ?? systemError(cause, dir)
      const isFailure = stop.failure !== undefined || !stop.now.aborted
      if (isFailure) logger.error('the run failed', error)
      await record.end(isFailure ? 'failed' : 'stopped', isFailure ? error : undefined)
      throw error
    }
  })
}

/** One file for each process: named after the role that no other process of the job has. */
function spansOf({ monitor }: Config, role: string | undefined, closers: Closers): SpanFile | undefined {
  if (monitor.monitor_type === 'none') return undefined
  return closers.add(new SpanFile(join(monitor.cache_dir, SPANS, `${fileName(role ?? 'benchmark')}.jsonl`)))
}

/** What must stay the same for a run to go on from its checkpoints. */
function identityOf({ model, algorithm }: Config): JobIdentity {
  const lora = model.lora_configs?.[0]
  return {
    'model.model_path': model.model_path,
    'algorithm.algorithm_type': algorithm.algorithm_type,
    'model.lora_configs': lora ? `rank ${lora.lora_rank} on ${lora.target_modules}` : 'none',
  }
}

/** Task files go through their pipeline once, before the first step. */
async function tasksDue(config: Config, checkpoints: Checkpoints, note: (text: string) => void): Promise<boolean> {
  const { task_pipeline: pipeline } = config.data_processor
  if (!pipeline || config.mode === 'bench' || (await checkpoints.latest())) return false
  if (!pipeline.output?.path || !hasTasks(pipeline.output.path)) return true
  note(`task pipeline: ${pipeline.output.path} holds its tasks already; delete it to make them again`)
  return false
}

async function prepareTasks(config: Config, signal: AbortSignal, note: (text: string) => void): Promise<void> {
  const { task_pipeline: pipeline } = config.data_processor
  if (!pipeline) return
  const metrics = await runTaskPipeline(pipeline, config.service.data_juicer, signal)
  note(`task pipeline: ${JSON.stringify(metrics)}`)
}
