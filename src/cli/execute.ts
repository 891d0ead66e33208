import type { Config, Parsed, Resolved } from '../config/index.js'
import { createView } from '../monitor/index.js'
import { listenToSignals, run, Stop } from '../run/index.js'
import { warningsOf } from '../run/warnings.js'
import { blockLimit } from '../run/watchdog/limit.js'
import { watchEventLoop } from '../run/watchdog/watchdog.js'
import type { ExitCode } from './print.js'
import { remarkLines, warningLines } from './problem.js'
import type { RunFlags } from './run.js'
import { deleteEarlier } from './start-over.js'
import { strays } from './stray.js'
import { optionsOf, typed, withSetting } from './suggestion.js'

/** Runs what a file asks for, with everything that a person at a terminal needs around it. */
export async function execute(resolved: Resolved, parsed: Parsed, options: RunFlags): Promise<ExitCode> {
  const remarks = [...remarkLines(resolved.remarks), ...warningLines(warningsOf(resolved))]
  if (remarks.length > 0) process.stderr.write(`${remarks.join('\n')}\n`)
  if (options.fresh && !(await deleteEarlier(resolved, options.yes ?? false))) return 0
  const command = options.command ?? `trinity run ${optionsOf(options)}`
  const withKey = (key: string, value: number) =>
    `trinity run ${optionsOf({ ...options, set: withSetting(options.set, key, value) })}`
  const stop = new Stop()
  const words = options.words ?? ((text: string) => text)
  const view = createView({ title: titleOf(resolved), words: (text) => typed(words(text)) })
  const signals = listenToSignals(stop, (text) => view.note(text))
  const untold = strays.tellTo(signals.fail, signals.force)
  let stay: NodeJS.Timeout | undefined
  const watchdog = watchEventLoop({
    limitMs: blockLimit(resolved.stages.map(({ config }) => config.explorer.max_timeout * 1000)),
    onBlocked(error) {
      signals.fail(error)
      // what waited may be lost with the loop that was broken; the process ends by itself no more
      stay = setInterval(() => {}, 1000)
    },
    note: (text) => view.note(text),
  })
  // Nobody reads any more (`| head`): what is trained is saved, and the run ends.
  const unread = () => stop.request()
  process.stdout.on('error', unread)
  try {
    const { end } = await run(resolved, {
      view,
      stop,
      command,
      commandWith: options.commandWith ?? withKey,
      // with this process
      began: 0,
      engineNamed: (i) => isNamed(parsed.stages[i].config, resolved.stages[i].config),
    })
    view.close()
    return end === 'partial' ? 3 : 0
  } catch (error) {
    view.close()
    if (stop.failure !== undefined || !stop.now.aborted) throw error
    process.stderr.write(`stopped immediately; to resume from the last checkpoint: ${typed(command)}\n`)
    return signals.code
  } finally {
    await watchdog.close()
    clearInterval(stay)
    signals.close()
    untold()
    process.stdout.off('error', unread)
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
