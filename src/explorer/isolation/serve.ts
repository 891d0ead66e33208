import { messageOf, TrinityError } from '../../base/error.js'
import { linkSignals } from '../../base/link-signals.js'
import type { Logger } from '../../base/log/logger.js'
import type { Task } from '../../task/index.js'
import { workflows } from '../../workflow/registry.js'
import type { WorkflowEntry } from '../../workflow/workflow.js'
import { contextFactory } from '../contexts.js'
import { rolloutOver } from '../over.js'
import { perform } from '../perform.js'
import type { ContextFactory } from '../workplace.js'
import { PortModels } from './models.js'
import type { FromWorker, Port, Setup, ToWorker } from './protocol.js'
import { openSetup } from './setup.js'
import { fromWireError, toWireError } from './wire-error.js'

/** The worker's side: runs one rollout after the other, with the models of the explorer behind the port. */
export function serveRollouts(
  port: Port<FromWorker, ToWorker>,
  loadPlugins: (dirs: readonly string[]) => Promise<unknown>,
): void {
  const models = new PortModels(port)
  const shared = new SharedArgs()
  let contextOf: ContextFactory
  let cancel: ((reason: unknown) => void) | undefined

  const prepare = async (setup: Setup) => {
    await loadPlugins(setup.plugins)
    const note = (text: string) => port.post({ kind: 'note', text })
    contextOf = contextFactory(await openSetup(setup, models, note), () => portLogger(port))
  }
  const rollout = async ({ job, place }: Extract<ToWorker, { kind: 'rollout' }>) => {
    const link = linkSignals([])
    cancel = link.abort
    try {
      const entry = entryOf(job.task)
      const context = contextOf({ ...job, task: shared.of(job.task), entry }, place, link.signal)
      const experiences = await perform(entry, context)
      const { diverged, sampledTokens, notes } = context.model.stats
      deliver(port, job.task, { kind: 'done', experiences, diverged, sampledTokens, notes })
    } catch (error) {
      port.post({ kind: 'undone', error: toWireError(error) })
    } finally {
      cancel = undefined
      // Whatever the workflow left running must not go on sampling.
      if (!link.signal.aborted) link.abort(rolloutOver(job.task.workflow))
    }
  }
  port.onMessage((message) => {
    if (message.kind === 'setup') {
      prepare(message.setup).then(
        () => port.post({ kind: 'ready' }),
        (error) => port.post({ kind: 'failed', error: toWireError(error) }),
      )
    } else if (message.kind === 'rollout') {
      models.tell(message.versions)
      void rollout(message)
    } else if (message.kind === 'cancel') cancel?.(fromWireError(message.reason))
    else models.hear(message)
  })
}

/** A worker has what the package has and what plugins add; what a program has added itself stays with the program. */
function entryOf({ workflow }: Task): WorkflowEntry {
  const entry = workflows.find(workflow)
  if (entry) return entry
  throw new TrinityError('explorer/isolation', `workflow '${workflow}' is not known in a worker`, {
    path: 'explorer.isolation',
    hint: `a program has added it by itself: put it into a plugin file (--plugin-dir, loadPlugins), or set explorer.isolation: none`,
  })
}

function deliver(port: Port<FromWorker, ToWorker>, { workflow }: Task, message: FromWorker): void {
  try {
    port.post(message)
  } catch (cause) {
    const text = `an experience of workflow '${workflow}' holds what cannot leave a worker: ${messageOf(cause)}`
    throw new TrinityError('workflow/not-plain', text, {
      path: 'explorer.isolation',
      hint: 'put plain data into info and messages (no functions, no open things), or set explorer.isolation: none',
      cause,
    })
  }
}

function portLogger(port: Port<FromWorker, ToWorker>): Logger {
  const at = (level: keyof Logger) => (text: string, cause?: unknown) =>
    port.post({ kind: 'log', level, text, cause: cause === undefined ? undefined : toWireError(cause) })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** Tasks of a set share their arguments, and what was made from them is found by them; copies of tasks do not. */
class SharedArgs {
  readonly #known = new Map<string, Record<string, unknown>>()

  of(task: Task): Task {
    return { ...task, rewardFnArgs: this.#one(task.rewardFnArgs), workflowArgs: this.#one(task.workflowArgs) }
  }

  #one(args: Record<string, unknown>): Record<string, unknown> {
    const key = JSON.stringify(args)
    const known = this.#known.get(key) ?? args
    this.#known.set(key, known)
    return known
  }
}
