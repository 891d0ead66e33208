import { item } from '../draft.js'
import type { Value } from '../value.js'
import { fallbackOf, type Mapping, numberFallback } from './mapping.js'

interface Estimator {
  type: string
  advantage: string
  args?: Record<string, Value>
  /** Set where Trinity has no such estimator and this is the nearest. */
  nearest?: string
}

/** veRL's advantage estimators. The ones marked `nearest` are said to be different in the notes. */
const ESTIMATORS: Record<string, Estimator> = {
  gae: { type: 'ppo', advantage: 'ppo' },
  grpo: { type: 'grpo', advantage: 'grpo' },
  reinforce_plus_plus: { type: 'reinforceplusplus', advantage: 'reinforceplusplus' },
  reinforce_plus_plus_baseline: {
    type: 'grpo',
    advantage: 'grpo',
    args: { std_cal_level: 'batch' },
    nearest: 'reward minus group mean, divided by the standard deviation of the batch (veRL whitens over tokens)',
  },
  rloo: { type: 'rloo', advantage: 'rloo' },
  rloo_vectorized: { type: 'rloo', advantage: 'rloo' },
  remax: {
    type: 'rloo',
    advantage: 'rloo',
    nearest:
      'ReMax needs a greedy answer per prompt as baseline; leave-one-out takes the other answers of the group instead (use repeat_times of 2 or more)',
  },
  opo: {
    type: 'grpo',
    advantage: 'opmd',
    args: { opmd_baseline: 'mean' },
    nearest: 'reward minus group mean (OPO weights the mean by answer length)',
  },
  gpg: {
    type: 'grpo',
    advantage: 'opmd',
    args: { opmd_baseline: 'mean' },
    nearest: 'reward minus group mean (GPG also rescales by the share of mixed groups)',
  },
  grpo_passk: {
    type: 'grpo',
    advantage: 'grpo',
    nearest: 'plain GRPO (pass@k rewards only the best answer of a group)',
  },
}

/** Policy losses of `actor.policy_loss.loss_mode` that Trinity has. `own` ones are algorithm types as well. */
const LOSSES: Record<string, { loss: string; own?: boolean; args?: Record<string, Value> }> = {
  vanilla: { loss: 'ppo' },
  // These two average per sequence, whatever actor.loss_agg_mode says.
  gspo: { loss: 'gspo', own: true, args: { loss_agg_mode: 'seq-mean-token-mean' } },
  cispo: { loss: 'cispo', own: true },
  sapo: { loss: 'sapo', own: true, args: { loss_agg_mode: 'seq-mean-token-mean' } },
  gpg: { loss: 'gpg' },
  geo_mean: { loss: 'geo_mean' },
  dppo_tv: { loss: 'dppo_tv' },
  dppo_kl: { loss: 'dppo_kl' },
  clip_cov: { loss: 'clip_cov' },
  kl_cov: { loss: 'kl_cov' },
}

/** Arguments of `actor.policy_loss`, and whose they are. */
const COVARIANCE = {
  clip_cov_ratio: 'clip_cov',
  clip_cov_lb: 'clip_cov',
  clip_cov_ub: 'clip_cov',
  kl_cov_ratio: 'kl_cov',
  ppo_kl_coef: 'kl_cov',
}

const KL: Record<string, string> = {
  kl: 'k1',
  k1: 'k1',
  abs: 'abs',
  mse: 'k2',
  k2: 'k2',
  low_var_kl: 'low_var_kl',
  k3: 'low_var_kl',
}

const ACTOR = 'actor_rollout_ref.actor'

/** Whether the run has a critic, which decides what becomes of `critic.*`. */
export function usesCritic(mapping: Mapping): boolean {
  const given = mapping.settings.get('algorithm.adv_estimator')?.value
  const name = typeof given === 'string' ? given : String(fallbackOf('algorithm.adv_estimator'))
  return name === 'gae'
}

export function mapAlgorithm(mapping: Mapping): void {
  const { draft } = mapping
  const estimator = readEstimator(mapping)
  const loss = readLoss(mapping)
  const useKlLoss = mapping.bool(`${ACTOR}.use_kl_loss`) ?? false
  const useKlInReward = mapping.bool('algorithm.use_kl_in_reward') ?? false
  const dapo = /dapo/.test(mapping.source.module ?? '') && estimator.type === 'grpo' && !useKlLoss && !useKlInReward
  const type = loss.own && estimator.type === 'grpo' ? loss.loss : dapo ? 'dapo' : estimator.type
  draft.set(
    'algorithm.algorithm_type',
    type,
    type === estimator.type
      ? `algorithm.adv_estimator=${estimator.name}`
      : loss.own
        ? `${ACTOR}.policy_loss.loss_mode`
        : mapping.source.module,
  )
  const n = mapping.number('actor_rollout_ref.rollout.n', numberFallback('actor_rollout_ref.rollout.n'))
  draft.set('algorithm.repeat_times', n.written, n.comment)
  draft.section('algorithm.optimizer')
  mapAdvantage(mapping, estimator)
  if (type === 'dapo') keepVerlDefaults(mapping)
  mapPenalty(mapping, useKlInReward)
  mapLossArgs(mapping, loss, type)
  mapKlLoss(mapping, useKlLoss)
  if (mapping.has(`${ACTOR}.entropy_coeff`)) {
    draft.set(
      'algorithm.entropy_loss_fn_args.entropy_coef',
      mapping.number(`${ACTOR}.entropy_coeff`, 0).written,
      `${ACTOR}.entropy_coeff`,
    )
  }
  mapDynamicSampling(mapping)
}

function readEstimator(mapping: Mapping): Estimator & { name: string } {
  const name = mapping.word('algorithm.adv_estimator') ?? String(fallbackOf('algorithm.adv_estimator'))
  const withoutStd = mapping.bool('algorithm.norm_adv_by_std_in_grpo') === false
  const known = Object.hasOwn(ESTIMATORS, name) ? ESTIMATORS[name] : undefined
  if (known?.nearest)
    mapping.notes.push(`algorithm.adv_estimator=${name} does not exist here; the nearest is written: ${known.nearest}`)
  if (!known)
    mapping.notes.push(`algorithm.adv_estimator=${mapping.describe(name)} is not known; GRPO is written in its place`)
  const estimator = known ?? ESTIMATORS.grpo
  if (name === 'grpo' && withoutStd) {
    mapping.notes.push(
      'algorithm.norm_adv_by_std_in_grpo=False: advantage_fn opmd with the mean as baseline is GRPO without the division by the standard deviation',
    )
    return { ...estimator, name, advantage: 'opmd', args: { opmd_baseline: 'mean' } }
  }
  return { ...estimator, name }
}

function readLoss(mapping: Mapping): { loss: string; own?: boolean; args?: Record<string, Value>; given: boolean } {
  const key = `${ACTOR}.policy_loss.loss_mode`
  const mode = mapping.word(key)
  if (mode === undefined) return { ...LOSSES.vanilla, given: false }
  if (Object.hasOwn(LOSSES, mode)) return { ...LOSSES[mode], given: mode !== 'vanilla' }
  mapping.none(
    key,
    'Trinity has no such policy loss; the clipped PPO loss is used (a plugin can add one: algorithm.policy_loss_fn)',
  )
  return { ...LOSSES.vanilla, given: false }
}

function mapAdvantage(mapping: Mapping, estimator: Estimator & { name: string }): void {
  const { draft } = mapping
  draft.set(
    'algorithm.advantage_fn',
    estimator.advantage,
    `algorithm.adv_estimator=${mapping.describe(estimator.name)}`,
  )
  const accepts: Record<string, string[]> = { ppo: ['gamma', 'lam'], reinforceplusplus: ['gamma'] }
  for (const name of ['gamma', 'lam']) {
    const key = `algorithm.${name}`
    if (!mapping.has(key)) continue
    if (accepts[estimator.advantage]?.includes(name))
      draft.set(`algorithm.advantage_fn_args.${name}`, mapping.number(key, 1).written, key)
    else mapping.cover(key, `the advantage '${estimator.advantage}' does not discount`)
  }
  for (const [name, value] of Object.entries(estimator.args ?? {}))
    draft.set(`algorithm.advantage_fn_args.${name}`, value)
}

/** Writes what veRL's DAPO recipe leaves off unless a script asks for it, and what the name `dapo` brings here. */
function keepVerlDefaults({ draft, source }: Mapping): void {
  draft.set('algorithm.advantage_fn_args.std_threshold', null, 'algorithm.filter_groups decides')
  draft.set('algorithm.advantage_fn_args.mask_truncated', false, `${source.module} does not mask truncated answers`)
}

/** KL in the reward. */
function mapPenalty(mapping: Mapping, used: boolean): void {
  const { draft } = mapping
  const keys = [
    'algorithm.kl_penalty',
    'algorithm.kl_ctrl.type',
    'algorithm.kl_ctrl.kl_coef',
    'algorithm.kl_ctrl.horizon',
    'algorithm.kl_ctrl.target_kl',
  ]
  if (!used) {
    draft.set(
      'algorithm.kl_penalty_fn',
      'none',
      `algorithm.use_kl_in_reward${mapping.has('algorithm.use_kl_in_reward') ? '=False' : ": veRL's default is False"}`,
    )
    for (const key of keys) mapping.cover(key, 'no effect while algorithm.use_kl_in_reward is off')
    return
  }
  draft.set(
    'algorithm.kl_penalty_fn',
    klName(mapping, keys[0], 'kl'),
    mapping.has(keys[0]) ? keys[0] : 'algorithm.use_kl_in_reward=True',
  )
  const coefficient = mapping.number(keys[2], numberFallback(keys[2]))
  draft.set('algorithm.kl_penalty_fn_args.kl_coef', coefficient.written, coefficient.comment)
  if (mapping.word(keys[1]) === 'adaptive') {
    draft.set('algorithm.kl_penalty_fn_args.adaptive', true, `${keys[1]}=adaptive`)
    draft.set('algorithm.kl_penalty_fn_args.horizon', mapping.number(keys[3], 10000).written, keys[3])
    draft.set('algorithm.kl_penalty_fn_args.target_kl', mapping.number(keys[4], 0.1).written, keys[4])
  } else for (const key of keys.slice(3)) mapping.cover(key, 'the KL coefficient is fixed')
}

function mapKlLoss(mapping: Mapping, used: boolean): void {
  const { draft } = mapping
  const [type, coefficient] = [`${ACTOR}.kl_loss_type`, `${ACTOR}.kl_loss_coef`]
  if (!used) {
    draft.set(
      'algorithm.kl_loss_fn',
      'none',
      `${ACTOR}.use_kl_loss${mapping.has(`${ACTOR}.use_kl_loss`) ? '=False' : ": veRL's default is False"}`,
    )
    for (const key of [type, coefficient]) mapping.cover(key, 'no effect while use_kl_loss is off')
    return
  }
  const given = mapping.has(type)
  draft.set(
    'algorithm.kl_loss_fn',
    klName(mapping, type, String(fallbackOf(type))),
    given ? type : `${ACTOR}.use_kl_loss=True`,
  )
  const value = mapping.number(coefficient, numberFallback(coefficient))
  draft.set('algorithm.kl_loss_fn_args.kl_coef', value.written, value.comment)
}

function klName(mapping: Mapping, key: string, fallback: string): string {
  const given = mapping.word(key) ?? fallback
  const name = given.replace(/\+$/, '')
  if (name !== given)
    mapping.notes.push(
      `${key}=${given}: the '+' (unbiased gradient) has no counterpart; ${KL[name] ?? 'low_var_kl'} is written`,
    )
  if (Object.hasOwn(KL, name)) return KL[name]
  mapping.notes.push(`${key}=${mapping.describe(given)} has no counterpart; low_var_kl is written`)
  return 'low_var_kl'
}

/** Clip ranges and the arguments of the other losses. */
function mapLossArgs(
  mapping: Mapping,
  loss: { loss: string; args?: Record<string, Value>; given: boolean },
  type: string,
): void {
  const { draft } = mapping
  const path = (name: string) => `algorithm.policy_loss_fn_args.${name}`
  if (loss.given && loss.loss !== type)
    draft.set('algorithm.policy_loss_fn', loss.loss, `${ACTOR}.policy_loss.loss_mode`)
  for (const [name, value] of Object.entries(loss.args ?? {})) draft.set(path(name), value)
  const clips = ['ppo', 'gspo', 'cispo', 'geo_mean', 'dppo_tv', 'dppo_kl', 'clip_cov'].includes(loss.loss)
  const [clip, low, high, dual] = ['clip_ratio', 'clip_ratio_low', 'clip_ratio_high', 'clip_ratio_c'].map(
    (name) => `${ACTOR}.${name}`,
  )
  if (!clips) for (const key of [clip, low, high, dual]) mapping.cover(key, `the loss '${loss.loss}' does not clip`)
  else if (mapping.has(low) || mapping.has(high)) {
    const both = mapping.number(clip, numberFallback(clip))
    if (both.given) mapping.cover(clip, 'clip_ratio_low and clip_ratio_high are set')
    for (const [key, name] of [
      [low, 'clip_range_low'],
      [high, 'clip_range_high'],
    ]) {
      const value = mapping.number(key, both.value)
      draft.set(path(name), value.written, value.comment)
    }
  } else if (mapping.has(clip)) {
    const value = mapping.number(clip, 0.2)
    if (loss.loss === 'ppo') draft.set(path('clip_range'), value.written, clip)
    else for (const name of ['clip_range_low', 'clip_range_high']) draft.set(path(name), value.written, clip)
  } else if (type === 'dapo') draft.set(path('clip_range'), 0.2, `${clip}: veRL's default`)
  if (loss.loss.startsWith('dppo_')) {
    // The default here is the paper's.
    const bound = mapping.number(dual, 3)
    draft.set(path('clip_ratio_c'), bound.written, bound.comment ?? `${dual}: veRL's default`)
  } else if (mapping.has(dual) && clips) {
    if (loss.loss === 'ppo') {
      if (draft.get(path('clip_range_low')) === undefined) draft.set(path('clip_range'), 0.2, `${clip}: veRL's default`)
      draft.set(path('clip_ratio_c'), mapping.number(dual, 3).written, dual)
    } else mapping.cover(dual, `the loss '${loss.loss}' has no dual clip`)
  }
  for (const name of ['tau_pos', 'tau_neg']) {
    const key = `${ACTOR}.${name}`
    if (loss.loss === 'sapo' && mapping.has(key)) draft.set(path(name), mapping.number(key, 1).written, key)
    else mapping.cover(key, 'belongs to the loss sapo')
  }
  for (const [name, owner] of Object.entries(COVARIANCE)) {
    const key = `${ACTOR}.policy_loss.${name}`
    if (loss.loss === owner && mapping.has(key)) draft.set(path(name), mapping.number(key, 0).written, key)
    else mapping.cover(key, `belongs to the loss ${owner}`)
  }
  const tokenLevel = mapping.bool(`${ACTOR}.use_token_level_loss`)
  if (tokenLevel !== undefined)
    draft.set(
      'algorithm.loss_agg_mode',
      tokenLevel ? 'token-mean' : 'seq-mean-token-mean',
      `${ACTOR}.use_token_level_loss`,
    )
}

/** DAPO's dynamic sampling: groups that are all right or all wrong are dropped. */
function mapDynamicSampling(mapping: Mapping): void {
  const key = 'algorithm.filter_groups'
  if (mapping.bool(`${key}.enable`) !== true) {
    for (const setting of mapping.below(key)) mapping.cover(setting.key, 'dynamic sampling is off')
    return
  }
  const metric = mapping.word(`${key}.metric`)
  const name =
    metric === undefined || metric === 'acc'
      ? 'accuracy'
      : /reward|score/.test(metric)
        ? 'reward'
        : mapping.describe(metric)
  mapping.draft.list('data_processor.experience_pipeline.operators', [
    item([
      ['name', 'dapo_dynamic_sampling', `${key}.enable`],
      ['args.metric_key', name, `${key}.metric`],
    ]),
  ])
  for (const setting of mapping.below(key))
    mapping.none(setting.key, 'the operator drops groups and does not generate others in their place')
}
