import { createInterface } from 'node:readline/promises'
import pc from 'picocolors'
import { TrinityError } from '../base/error.js'
import type { Config, Parsed, Resolved } from '../config/index.js'
import { createView } from '../monitor/index.js'
import { leftovers, listenToSignals, run, Stop, startOver } from '../run/index.js'
import type { ExitCode } from './print.js'
import { remarkLines } from './problem.js'
import type { RunFlags } from './run.js'

/** Runs what a file asks for, with everything that a person at a terminal needs around it. */
export async function execute(resolved: Resolved, parsed: Parsed, options: RunFlags): Promise<ExitCode> {
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
      engineNamed: (i) => isNamed(parsed.stages[i].config, resolved.stages[i].config),
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

/** The file names the engine that trains, for the trainer or for the rollouts. */
function isNamed(given: Config, { trainer }: Config): boolean {
  return [given.trainer.trainer_type, given.explorer.rollout_model.engine_type].includes(trainer.trainer_type)
}

function commandOf({ config, pluginDir, set = [] }: RunFlags): string {
  const words = ['trinity', 'run', '-c', config]
  if (pluginDir !== undefined) words.push('--plugin-dir', pluginDir)
  for (const one of set) words.push('--set', one)
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')
}

/** False: there was something to delete, and the person said no. */
async function deleteEarlier(resolved: Resolved, sure: boolean): Promise<boolean> {
  const paths = await leftovers(resolved)
  if (paths.length === 0) return true
  const list = paths.map((path) => `  ${path}`).join('\n')
  if (!sure) {
    if (!process.stdin.isTTY || !process.stdout.isTTY) {
      throw new TrinityError('cli/fresh', `--fresh would delete\n${list}`, { hint: 'add --yes to delete it' })
    }
    const terminal = createInterface({ input: process.stdin, output: process.stdout })
    const answer = await terminal.question(`${pc.bold('This deletes')}\n${list}\nStart over? [y/N] `)
    terminal.close()
    if (!/^y(es)?$/i.test(answer.trim())) {
      process.stdout.write('nothing was deleted, nothing was run\n')
      return false
    }
  }
  await startOver(resolved)
  process.stdout.write(`deleted\n${list}\n`)
  return true
}
