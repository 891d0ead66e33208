import { existsSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { TrinityError } from '../base/error.js'
import { isPluginFile } from '../plugin/files.js'
import { usePlugins } from '../plugin/use.js'
import { localModel } from '../run/local-model.js'
import type { ExitCode } from './print.js'
import { run } from './run.js'
import { quoted } from './suggestion.js'
import { commandOf, withValue } from './train-command.js'
import { inOptions, problemInOptions, words } from './train-words.js'

export interface TrainFlags {
  data: string
  model: string
  split?: string
  eval?: string
  workflow?: string
  name?: string
  steps?: string
  batch: string
  repeat: string
  lr: string
  length?: string
  set?: string[]
  print?: boolean
  fresh?: boolean
  yes?: boolean
  dryRun?: boolean
}

/** Longer conversations have to be asked for: they take memory. */
const MOST_LENGTH = 8192

/** Trains the model behind the agent of a file, without a configuration of the user's. */
export async function train(file: string, flags: TrainFlags): Promise<ExitCode> {
  if (!existsSync(file)) {
    throw new TrinityError('cli/no-file', `there is no file '${file}'`, {
      path: file,
      hint: 'give the file that calls agent(...); docs/agents.md begins with one',
    })
  }
  if (statSync(file).isFile() && !isPluginFile(file)) {
    const isYaml = /\.ya?ml$/i.test(file)
    throw new TrinityError('cli/agent', `${file} is no agent file: .ts, .mts, .js or .mjs`, {
      path: file,
      hint: isYaml
        ? `a configuration runs with: trinity run --config ${quoted([file])}`
        : 'give the file that calls agent(...)',
    })
  }
  const { workflows } = await import('../workflow/registry.js')
  const before = new Set(workflows.names())
  await usePlugins([file])
  const added = workflows.names().filter((name) => !before.has(name))
  const workflow = chosen(added, flags.workflow, file)
  const text = stringify(await configuration(workflow, flags), { lineWidth: 0 })
  if (flags.print) {
    process.stdout.write(`# trinity run -c FILE --plugin-dir ${file}\n${text}`)
    return 0
  }
  const { set, fresh, yes, dryRun } = flags
  const command = commandOf(file, flags)
  const commandWith = (key: string, value: number) => commandOf(file, withValue(flags, key, value))
  const logDir = join('checkpoints', 'agents', flags.name ?? workflow, 'log')
  const config = `train ${basename(file)}`
  try {
    return await run({
      ...{ config, logDir, text, command, commandWith, words, pluginDir: [file], set, fresh, yes, dryRun },
      problemWords: problemInOptions,
    })
  } catch (error) {
    throw inOptions(error, config)
  }
}

function chosen(added: readonly string[], asked: string | undefined, file: string): string {
  if (asked !== undefined ? added.includes(asked) : added.length === 1) return asked ?? added[0]
  const what = added.length === 0 ? 'no agent' : `the agents ${added.join(', ')}`
  const missing = asked === undefined ? '' : `, and not '${asked}'`
  throw new TrinityError('cli/agent', `${basename(file)} has ${what}${missing}`, {
    path: file,
    hint:
      added.length > 0
        ? 'choose one with --workflow'
        : "write: export default agent('name', async (task, rollout) => …)",
  })
}

/** The configuration that the options stand for. */
async function configuration(workflow: string, flags: TrainFlags): Promise<Record<string, unknown>> {
  const batch = count('--batch', flags.batch)
  const local = (path: string) => (existsSync(path) ? resolve(path) : path)
  const taskset = (name: string, path: string) => ({ name, path: local(path), split: flags.split })
  return plain({
    mode: 'both',
    project: 'agents',
    name: flags.name ?? workflow,
    checkpoint_root_dir: './checkpoints',
    algorithm: {
      // rollouts are compared with each other, however many sequences they have
      algorithm_type: 'multi_step_grpo',
      repeat_times: count('--repeat', flags.repeat),
      kl_loss_fn: 'none',
      sample_strategy: 'whole_step',
      optimizer: { lr: number('--lr', flags.lr) },
    },
    model: {
      model_path: local(flags.model),
      max_model_len: flags.length === undefined ? await lengthOf(flags.model) : count('--length', flags.length),
    },
    buffer: {
      batch_size: batch,
      ...(flags.steps === undefined ? { total_epochs: 1 } : { total_steps: count('--steps', flags.steps) }),
      explorer_input: {
        default_workflow_type: workflow,
        taskset: { ...taskset('tasks', flags.data), data_selector: { selector_type: 'shuffle' } },
        eval_tasksets: flags.eval === undefined ? undefined : [taskset('held-out', flags.eval)],
      },
    },
    explorer: { runner_per_model: batch, concurrent_mode: 'asynchronous', eval_interval: 20 },
    synchronizer: { sync_interval: 1 },
    trainer: { save_interval: 50 },
  })
}

/** Tokens of the longest conversation: what the model was made for, within reason. */
async function lengthOf(model: string): Promise<number> {
  // what is wrong with it is told when it is opened
  const own = await localModel(model).catch(() => undefined)
  return Math.min(own?.maxPositions ?? MOST_LENGTH, MOST_LENGTH)
}

/** Without what is undefined. */
function plain(value: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>
}

function count(option: string, text: string): number {
  const value = number(option, text)
  if (Number.isInteger(value) && value >= 1) return value
  throw new TrinityError('args/invalid', `${option} is ${text}`, {
    path: option,
    hint: 'give a whole number from 1 on',
  })
}

function number(option: string, text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value
  throw new TrinityError('args/invalid', `${option} is '${text}'`, { path: option, hint: 'give a number above 0' })
}
