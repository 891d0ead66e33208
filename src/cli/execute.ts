import type { Parsed, Resolved } from '../config/index.js'
import { createView } from '../monitor/index.js'
import { listenToSignals, run, Stop } from '../run/index.js'
import { HIDDEN, isHarmless, isSecretName, redactValue } from '../secret/index.js'
import type { ExitCode } from './print.js'
import { remarkLines } from './problem.js'
import type { RunOptions } from './run.js'
import { deleteEarlier } from './start-over.js'

/** Runs what a file asks for, with everything that a person at a terminal needs around it. */
export async function execute(resolved: Resolved, parsed: Parsed, options: RunOptions): Promise<ExitCode> {
  const remarks = remarkLines(resolved.remarks)
  if (remarks.length > 0) process.stderr.write(`${remarks.join('\n')}\n`)
  if (options.fresh && !(await deleteEarlier(resolved, options.yes ?? false))) return 0
  const stop = new Stop()
  const view = createView({ title: titleOf(resolved) })
  const signals = listenToSignals(stop, (text) => view.note(text))
  try {
    const { end, steps } = await run(resolved, {
      view,
      stop,
      command: commandOf(options),
      nativeNamed: (i) => isNative(parsed.stages[i].config),
    })
    view.close()
    if (end === 'before') process.stdout.write(`nothing to do: this run has finished before, after ${steps} steps\n`)
    if (end === 'stopped') {
      const where = steps === 0 ? 'stopped before the first step was done' : `stopped after step ${steps} and saved`
      process.stdout.write(`${where}; to go on: ${commandOf(options)}\n`)
    }
    return 0
  } catch (error) {
    view.close()
    if (!stop.now.aborted) throw error
    process.stderr.write(`stopped at once; from the last checkpoint on: ${commandOf(options)}\n`)
    return signals.code
  } finally {
    signals.close()
  }
}

function titleOf({ stages }: Resolved): string {
  const { project, name } = stages[0].config
  return `${project}/${stages[0].name === null ? name : name.slice(0, -stages[0].name.length - 1)}`
}

function isNative({ trainer, explorer }: Parsed['stages'][number]['config']): boolean {
  return trainer.trainer_type === 'native' || explorer.rollout_model.engine_type === 'native'
}

/** The command that goes on. Whoever copies it puts the secrets in again. */
export function commandOf({ config, pluginDir, set = [] }: RunOptions): string {
  const words = ['trinity', 'run', '-c', config]
  if (pluginDir !== undefined) words.push('--plugin-dir', pluginDir)
  for (const one of set) words.push('--set', shownOverride(one))
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')
}

function shownOverride(text: string): string {
  const equals = text.indexOf('=')
  const [key, value] = [text.slice(0, equals), text.slice(equals + 1)]
  const secret = key.split(/[.[\]]+/).some((part) => isSecretName(part) || part === 'env_vars')
  return `${key}=${secret && !isHarmless(value) ? HIDDEN : redactValue(value)}`
}
