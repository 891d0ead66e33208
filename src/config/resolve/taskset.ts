import type { Config, TasksetConfig } from '../section/config.js'
import { resolveArguments } from './arguments.js'
import type { Scope } from './scope.js'
import { resolveSelector } from './selector.js'

const INPUT = 'buffer.explorer_input'

/** The task sets of training and evaluation, with everything they inherit. */
export function resolveTasksets(config: Config, scope: Scope): { tasksets: TasksetConfig[]; evals: TasksetConfig[] } {
  const input = config.buffer.explorer_input
  if (input.taskset && input.tasksets.length > 0) {
    scope.error('value', `${INPUT}.taskset`, 'given together with tasksets', 'keep one of the two')
  }
  const given = input.taskset ? [input.taskset] : input.tasksets
  const explores = config.mode === 'both' || config.mode === 'explore' || config.mode === 'colocate'
  if (explores && given.length === 0) scope.error('missing', `${INPUT}.taskset`, `mode ${config.mode} needs a task set`)
  const keyOf = (i: number) => (input.taskset ? `${INPUT}.taskset` : `${INPUT}.tasksets[${i}]`)
  const tasksets = given.map((one, i) => resolveTaskset(one, i, keyOf(i), false, config, scope))
  const evals = input.eval_tasksets.map((one, i) =>
    resolveTaskset(one, i, `${INPUT}.eval_tasksets[${i}]`, true, config, scope),
  )
  if (config.mode !== 'train' && config.mode !== 'serve') warnWithoutWorkflow([...tasksets, ...evals], scope)
  uniqueNames(tasksets, `${INPUT}.tasksets`, scope)
  uniqueNames(evals, `${INPUT}.eval_tasksets`, scope)
  return { tasksets, evals }
}

function resolveTaskset(
  given: TasksetConfig,
  index: number,
  key: string,
  isEval: boolean,
  config: Config,
  scope: Scope,
): TasksetConfig {
  const { model, buffer } = config
  const input = buffer.explorer_input
  if (!given.path) scope.error('missing', `${key}.path`, 'a task set needs a path')
  if (given.task_selector) scope.note('alias', `${key}.task_selector`, 'is now data_selector')
  const repeat = isEval ? given.repeat_times : (config.algorithm.repeat_times ?? 1)
  const inherited = (isEval ? input.default_eval_workflow_type : null) ?? input.default_workflow_type
  const workflow = given.default_workflow_type ?? inherited
  const reward = given.default_reward_fn_type ?? input.default_reward_fn_type
  if (reward && config.mode !== 'train') checkReward(reward, given, key, scope)
  if (workflow && config.mode !== 'train') checkWorkflow(workflow, given, key, scope)
  return {
    ...given,
    name: given.name || `${isEval ? 'eval_taskset' : 'taskset'}_${index}`,
    default_workflow_type: workflow,
    default_reward_fn_type: reward,
    rollout_args: {
      ...given.rollout_args,
      temperature: given.rollout_args.temperature ?? model.temperature,
      top_p: given.rollout_args.top_p ?? model.top_p,
      top_k: given.rollout_args.top_k ?? model.top_k,
      logprobs: given.rollout_args.logprobs ?? model.logprobs,
      max_tokens: given.rollout_args.max_tokens ?? model.max_response_tokens,
      n: repeat,
    },
    task_selector: null,
    data_selector: resolveSelector(given.task_selector ?? given.data_selector, `${key}.data_selector`, scope),
    format: { ...given.format, chat_template: given.format.chat_template ?? model.custom_chat_template },
    repeat_times: repeat,
    index,
    is_eval: isEval,
    batch_size: buffer.batch_size,
    total_epochs: isEval ? 1 : buffer.total_epochs,
    total_steps: isEval ? null : buffer.total_steps,
    ray_namespace: config.ray_namespace,
  }
}

/** One that nothing knows is for the run to say, which knows all of them. */
function checkReward(name: string, given: TasksetConfig, key: string, scope: Scope): void {
  const component = scope.catalog.rewardFns.find(name)
  if (component) resolveArguments(component, given.reward_fn_args, `${key}.reward_fn_args`, scope)
}

/** One that says what arguments it takes, plugins included. */
function checkWorkflow(name: string, given: TasksetConfig, key: string, scope: Scope): void {
  const component = scope.catalog.workflows.find(name)
  const isGiven = Object.keys(given.workflow_args).length > 0
  if (component && isGiven) resolveArguments(component, given.workflow_args, `${key}.workflow_args`, scope)
}

function warnWithoutWorkflow(sets: readonly TasksetConfig[], scope: Scope): void {
  const bare = sets.filter((set) => set.default_workflow_type === null && set.format.workflow_key === '')
  if (bare.length === 0) return
  const names = bare.map((set) => set.name).join(', ')
  scope.warn('missing', INPUT, `no workflow is named for ${names}`, 'set default_workflow_type')
}

function uniqueNames(sets: readonly TasksetConfig[], key: string, scope: Scope): void {
  const seen = new Set<string>()
  for (const [i, { name }] of sets.entries()) {
    if (seen.has(name))
      scope.warn('value', `${key}[${i}].name`, `two task sets are named ${name}: their metrics would mix`)
    seen.add(name)
  }
}
