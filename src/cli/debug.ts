import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { dirname, join, resolve } from 'node:path'
import { messageOf, TrinityError } from '../base/error.js'
import type { Logger } from '../base/log/logger.js'
import { redact } from '../base/secret/index.js'
import { machineFacts, readConfig, resolveConfig } from '../config/index.js'
import { loadConfig } from '../config/load.js'
import { type OpenEngine, openEngine } from '../engine/registry.js'
import type { RunView } from '../monitor/view.js'
import { usePlugins } from '../plugin/use.js'
import { loadCatalog } from '../run/catalog.js'
import { withClosers } from '../run/closers.js'
import { connectTo, type DebugContext, debugConfig, fingerprint, openModels, toServe } from '../run/debug/models.js'
import { readTask, runTask } from '../run/debug/one-task.js'
import { DEBUG_FILE, describeRun, outputFile, RESULT_TABLE, writeExperiences } from '../run/debug/output.js'
import { serveModels } from '../run/debug/server.js'
import { debugSocket } from '../run/debug/socket.js'
import { interrupted } from './interrupted.js'
import type { ExitCode } from './print.js'
import { rememberFlags, typed } from './suggestion.js'

export interface DebugOptions {
  config: string
  module: string
  pluginDir?: string[]
  outputDir: string
  outputFile?: string
  disableOverwrite?: boolean
  enableProfiling?: boolean
  task: string
  port?: string
  set?: string[]
}

/** What tests replace. */
export interface DebugWorld {
  readonly openEngine: OpenEngine
  readonly print: (line: string) => void
  readonly signal: AbortSignal
  /** Folder of the built page of Studio. */
  readonly page?: string
}

export async function debug(options: DebugOptions, world: Partial<DebugWorld> = {}): Promise<ExitCode> {
  const write = world.print ?? ((line: string) => void process.stdout.write(`${line}\n`))
  rememberFlags(options)
  const print = (line: string) => write(redact(typed(line)))
  if (options.module === 'viewer') return look(options, { ...world, print: write })
  if (options.module !== 'inference_model' && options.module !== 'workflow') {
    throw new TrinityError('cli/debug', `--module ${options.module} is not known`, {
      path: '--module',
      hint: 'inference_model serves the models, workflow runs one task, viewer shows what it made',
    })
  }
  await usePlugins(options.pluginDir)
  const parsed = readConfig(options.config, { set: [...(options.set ?? []), 'mode=explore'] })
  const resolved = resolveConfig(parsed, machineFacts(), await loadCatalog([parsed]))
  const config = debugConfig(resolved.stages[resolved.stages.length - 1].config)
  const socket = debugSocket(options.config)
  const signal = world.signal ?? interrupted()
  return withClosers(async (closers) => {
    const view = printed(print)
    const context: DebugContext = { config, openEngine: world.openEngine ?? openEngine, view, signal, closers }
    return options.module === 'workflow' ? runOne(context, socket, options, print) : serve(context, socket, print)
  })
}

/** Shows what `--module workflow` has written. */
async function look(options: DebugOptions, world: Partial<DebugWorld>): Promise<ExitCode> {
  const { view } = await import('./view.js')
  const url = resolve(options.outputFile ?? join(options.outputDir, DEBUG_FILE))
  if (!existsSync(url)) {
    throw new TrinityError('cli/debug', `there is nothing to show at ${url}`, {
      path: url,
      hint: typed('`trinity debug --module workflow` runs one task and writes what it made there'),
    })
  }
  const tokenizer = loadConfig(options.config, { set: options.set }).stages.at(-1)?.config.model.model_path
  return view({ url, table: RESULT_TABLE, tokenizer: tokenizer || undefined, port: options.port }, world)
}

async function serve(context: DebugContext, socket: string, print: (line: string) => void): Promise<ExitCode> {
  const { config, signal, closers } = context
  const parts = await openModels(context)
  const models = toServe(parts)
  closers.add(await serveModels(socket, fingerprint(config), models))
  for (const { name, role, sampler, reward } of models) {
    const { architecture, parameters, maxModelLen } = (sampler ?? reward)!.info
    print(`${role} ${name}: ${architecture}, ${parameters} parameters, ${maxModelLen} tokens`)
  }
  print(`serving on ${socket}; Ctrl-C ends it`)
  print('in another terminal: trinity debug --module workflow')
  if (!signal.aborted) await once(signal, 'abort')
  return 0
}

async function runOne(
  context: DebugContext,
  socket: string,
  options: DebugOptions,
  print: (line: string) => void,
): Promise<ExitCode> {
  const { config, view, signal } = context
  const row = Number(options.task)
  if (!Number.isInteger(row) || row < 0) throw new TrinityError('cli/debug', `--task ${options.task} is not a number`)
  const task = await readTask(config, row)
  let parts = await connectTo(socket, context)
  if (!parts) {
    view.note(
      'no debug server is running: opening the models here (trinity debug --module inference_model keeps them open)',
    )
    parts = await openModels(context)
  }
  const file = await outputFile(options)
  const work = () => runTask(parts, task, printing(print), signal)
  const result = options.enableProfiling
    ? await profiled(join(dirname(file), 'workflow.cpuprofile'), print, work)
    : await work()
  for (const line of describeRun(result)) print(line)
  await writeExperiences(file, result.experiences)
  print(`written to ${file}, table ${RESULT_TABLE}`)
  return result.failure ? 1 : 0
}

/** Records where the time of the workflow goes; editors and browsers open the file. */
async function profiled<T>(file: string, print: (line: string) => void, work: () => Promise<T>): Promise<T> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    const result = await work()
    const { profile } = await session.post('Profiler.stop')
    await writeFile(file, JSON.stringify(profile))
    print(`profile in ${file}`)
    return result
  } finally {
    session.disconnect()
  }
}

function printed(print: (line: string) => void): RunView {
  return { phase: (_, what) => print(what), metrics() {}, note: print, end() {}, close() {} }
}

function printing(print: (line: string) => void): Logger {
  return {
    debug: (message) => print(`debug ${message}`),
    info: (message) => print(message),
    warn: (message) => print(`warning ${message}`),
    error: (message, cause) => print(`error ${cause instanceof Error ? (cause.stack ?? messageOf(cause)) : message}`),
  }
}
