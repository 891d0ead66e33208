import { dirname, resolve } from 'node:path'
import pc from 'picocolors'
import { TrinityError } from '../base/error.js'
import { writeJsonFile } from '../base/file/atomic-file.js'
import { makeFolder } from '../base/file/make-folder.js'
import { redact, redactAll } from '../base/secret/index.js'
import { machineFacts, readConfig, resolveConfig } from '../config/index.js'
import { createView } from '../monitor/index.js'
import { measure, PERF_MODULES, type PerfModule, type PerfReport, readReport } from '../perf/index.js'
import { usePlugins } from '../plugin/use.js'
import { loadCatalog } from '../run/catalog.js'
import { listenToSignals, run, Stop } from '../run/index.js'
import { decimal, wholeNumber } from './number.js'
import type { ExitCode } from './print.js'
import { strays } from './stray.js'
import { type StudioWorld, serveStudio } from './studio.js'

export interface PerfRunOptions {
  config: string
  module: string
  outputPath: string
  monitorInterval?: string
  totalSteps?: string
  timeout?: string
  pluginDir?: string[]
  set?: string[]
}

/** `trinity perf run`: runs some steps of a job and writes down how long they took and what they used. */
export async function perfRun(options: PerfRunOptions): Promise<ExitCode> {
  const module = moduleOf(options.module)
  const steps = wholeNumber('--total-steps', options.totalSteps, 5, 1)
  const intervalSeconds = decimal('--monitor-interval', options.monitorInterval, 2) || 0.1
  const timeout = options.timeout === undefined ? undefined : decimal('--timeout', options.timeout, 0)
  await usePlugins(options.pluginDir)
  const set = [...(options.set ?? []), ...keysOf(module, steps)]
  const { name } = readConfig(options.config, { set }).stages[0].config
  // what is measured is not the job itself, which may have been trained for days
  const parsed = readConfig(options.config, { set: [...set, `name=${name}_perf`] })
  const resolved = resolveConfig(parsed, machineFacts(), await loadCatalog([parsed]))
  if (resolved.stages.length > 1) {
    throw new TrinityError('perf/stages', 'a configuration with stages is measured one stage at a time', {
      path: options.config,
      hint: 'give each stage a file of its own',
    })
  }
  const { config } = resolved.stages[0]
  const output = resolve(options.outputPath)
  const stop = new Stop()
  const view = createView({ title: `${config.project}/${config.name}` })
  const signals = listenToSignals(stop, (text) => view.note(text))
  const untold = strays.tellTo(signals.fail, signals.force)
  const timer = timeout === undefined ? undefined : setTimeout(() => expire(stop, timeout), timeout * 1000)
  const report = await measure({
    ...{ module, configPath: options.config, config, intervalSeconds, output, view },
    run: (watched) => run(resolved, { view: watched, stop }),
  }).finally(() => {
    clearTimeout(timer)
    signals.close()
    untold()
    view.close()
  })
  await makeFolder(dirname(output))
  await writeJsonFile(output, redactAll(report))
  process.stdout.write(redact(`${summary(report).join('\n')}\n`))
  return report.status.success ? 0 : 1
}

export interface PerfViewOptions {
  report: string
  port?: string
}

/** `trinity perf view`: a report in a browser. */
export async function perfView(options: PerfViewOptions, world: Partial<StudioWorld> = {}): Promise<ExitCode> {
  const port = wholeNumber('--port', options.port, 8503, 0, 65535)
  const path = resolve(options.report)
  const report = await readReport(path)
  return serveStudio({ folders: [], port, report: { path, report } }, `Studio shows ${path}`, world)
}

function moduleOf(text: string): PerfModule {
  const found = PERF_MODULES.find((name) => name === text)
  if (found) return found
  throw new TrinityError('cli/perf', `--module ${text} is not known`, {
    path: '--module',
    hint: 'explorer measures rollouts alone, both measures rollouts and training',
  })
}

/** What a measurement needs of a configuration. Nobody would ever give an explorer alone new weights. */
function keysOf(module: PerfModule, steps: number): string[] {
  const keys = ['monitor.monitor_type=tensorboard', 'continue_from_checkpoint=false', `buffer.total_steps=${steps}`]
  if (module === 'both') return ['mode=both', ...keys]
  const alone = ['mode=explore', 'explorer.eval_interval=0', 'synchronizer.sync_style=fixed']
  return [...alone, `synchronizer.sync_interval=${steps + 1}`, ...keys]
}

function expire(stop: Stop, seconds: number): void {
  stop.fail(
    new TrinityError('perf/timeout', `the measurement took longer than ${seconds} s`, {
      path: '--timeout',
      hint: 'give it more time, or fewer --total-steps',
    }),
  )
  stop.force()
}

function summary({ timing, step_metrics: steps, status, artifacts }: PerfReport): string[] {
  const rate = (value: number | null) => (value === null ? 'unknown' : value.toFixed(1))
  return [
    status.success ? `${steps.length} steps were measured` : `${pc.red('the run failed')}: ${status.error}`,
    `  startup ${timing.startup_time_sec.toFixed(2)} s, execution ${timing.execution_time_sec.toFixed(2)} s`,
    `  tokens per second: prompts ${rate(timing.prompt_tokens_per_second)}, responses ${rate(timing.response_tokens_per_second)}`,
    `  report in ${artifacts.output_json}; look at it: trinity perf view --report ${artifacts.output_json}`,
  ]
}
