import { type Component, type Lookup, preferredMode } from '../catalog.js'
import type { Dict } from '../field.js'
import type { Config } from '../section/config.js'
import { resolveArguments } from './arguments.js'
import { isOffline, type Scope } from './scope.js'

type Algorithm = Config['algorithm']
type Slot = 'sample_strategy' | 'advantage_fn' | 'kl_penalty_fn' | 'policy_loss_fn' | 'kl_loss_fn' | 'entropy_loss_fn'
const SLOTS = [
  'sample_strategy',
  'advantage_fn',
  'kl_penalty_fn',
  'policy_loss_fn',
  'kl_loss_fn',
  'entropy_loss_fn',
] as const

/** Components and their arguments: the user's, else the algorithm's, else the function's. */
export function resolveAlgorithm(config: Config, scope: Scope): Algorithm {
  const given = config.algorithm
  const facts = scope.algorithm
  const result: Algorithm = { ...given, optimizer: resolveOptimizer(config, scope) }
  if (!facts) return result
  const usesData = facts.schema !== 'experience'
  if (usesData && config.mode !== 'train') {
    const text = `${given.algorithm_type} learns from a data set and runs in mode train, not ${config.mode}`
    scope.error('mode', 'mode', text, 'set mode: train')
  }
  result.repeat_times =
    facts.schema === 'dpo' ? 2 : (given.repeat_times ?? (facts.defaults.repeat_times as number | undefined) ?? 1)
  // veRL says the same in its rollout correction
  result.bypass_old_logprobs = given.bypass_old_logprobs && given.rollout_correction?.bypass_mode !== false
  for (const slot of SLOTS) Object.assign(result, resolveSlot(slot, given, scope))
  result.loss_agg_mode = aggregation(given, result, scope)
  if (result.repeat_times === 1 && typeof result.advantage_fn_args?.std_threshold === 'number') {
    const text = 'a group of one has no spread: advantage_fn_args.std_threshold leaves it out'
    scope.warn('value', 'algorithm.repeat_times', text, 'set repeat_times to 2 or more, or std_threshold to null')
  }
  const policy = result.policy_loss_fn_args
  if (policy && Object.hasOwn(policy, 'loss_agg_mode')) policy.loss_agg_mode ??= result.loss_agg_mode
  return result
}

function resolveSlot(slot: Slot, given: Algorithm, scope: Scope): Partial<Algorithm> {
  const defaults = scope.algorithm?.defaults ?? {}
  const own = defaults[slot] as string | undefined
  const name = given[slot] ?? own ?? null
  const key = `algorithm.${slot}`
  const lookup = registryOf(slot, scope)
  if (name === null) {
    if (given[`${slot}_args`]) scope.note('no-effect', `${key}_args`, `${given.algorithm_type} has no ${slot}`)
    return { [slot]: null, [`${slot}_args`]: null }
  }
  const component = lookup.find(name)
  if (!component) {
    scope.unknownName(key, lookup.kind, name, lookup)
    return { [slot]: name }
  }
  // an algorithm's own arguments belong to its own function, not to one the user put in the slot
  const base = name === own ? (defaults[`${slot}_args`] as Dict | undefined) : undefined
  const args = mergeArguments(base, given[`${slot}_args`])
  return { [slot]: name, [`${slot}_args`]: resolveArguments(component, args, `${key}_args`, scope) }
}

/** An argument of the file wins, also over the algorithm's own `<argument>_low` and `<argument>_high`. */
function mergeArguments(own: Dict = {}, given: Dict | null): Dict {
  const isRefined = (name: string) => Object.hasOwn(given ?? {}, name.replace(/_(?:low|high)$/, ''))
  return { ...Object.fromEntries(Object.entries(own).filter(([name]) => !isRefined(name))), ...given }
}

function registryOf(slot: Slot, { catalog }: Scope): Lookup<Component> {
  const lookups: Record<Slot, Lookup<Component>> = {
    sample_strategy: catalog.sampleStrategies,
    advantage_fn: catalog.advantageFns,
    kl_penalty_fn: catalog.klFns,
    policy_loss_fn: catalog.policyLossFns,
    kl_loss_fn: catalog.klFns,
    entropy_loss_fn: catalog.entropyLossFns,
  }
  return lookups[slot]
}

/** The policy loss's explicit mode, else the algorithm-level one, else the loss's own, else token-mean. */
function aggregation(given: Algorithm, result: Algorithm, scope: Scope): Algorithm['loss_agg_mode'] {
  const args = result.policy_loss_fn_args ?? {}
  const explicit = args.loss_agg_mode
  const loss = result.policy_loss_fn ? scope.catalog.policyLossFns.find(result.policy_loss_fn) : undefined
  const { policy_loss_fn, loss_agg_mode } = scope.algorithm?.defaults ?? {}
  // like its arguments, the aggregation of an algorithm belongs to its own loss
  const ofAlgorithm = result.policy_loss_fn === policy_loss_fn ? (loss_agg_mode as string | undefined) : undefined
  const own = ofAlgorithm ?? preferredMode(loss ?? {}, args)
  return (given.loss_agg_mode ?? explicit ?? own ?? 'token-mean') as Algorithm['loss_agg_mode']
}

function resolveOptimizer({ algorithm, trainer }: Config, scope: Scope): Algorithm['optimizer'] {
  const { warmup_style: old, ...given } = algorithm.optimizer
  const optimizer = { ...given, clip_grad: given.clip_grad ?? trainer.grad_clip }
  if (optimizer.betas.length !== 2) scope.error('value', 'algorithm.optimizer.betas', 'expected two numbers')
  if (old === null) return { ...optimizer, warmup_style: null }
  scope.note('alias', 'algorithm.optimizer.warmup_style', 'is now lr_scheduler_type')
  return { ...optimizer, lr_scheduler_type: old, warmup_style: null }
}

/** Steps between weight updates follow the checkpoints when nothing is explored. */
export function offlineSyncInterval(config: Config, scope: Scope): number {
  const { save_interval: save } = config.trainer
  return isOffline(scope) && save > 0 ? save : config.synchronizer.sync_interval
}
