import { describe, expect, it } from 'vitest'
import { TrinityError } from '../../src/base/error.js'
import type { Field, RecordSpec } from '../../src/config/field.js'
import { type Config, trainerTree } from '../../src/config/index.js'
import { trainerConfig } from '../../src/config/section/trainer-config.js'
import type { Row } from '../../src/engine/contract.js'
import { recomputes } from '../../src/engine/spec.js'
import { torchOptions } from '../../src/engine/torch/from-config.js'
import { lossOf } from '../../src/trainer/needs.js'
import { actorSettings, type CriticSettings, criticSettings, type UpdateSettings } from '../../src/trainer/settings.js'
import { BASE, resolveAll, settings } from '../config-kit.js'

const TREE = 'trainer.trainer_config'

interface Leaf {
  readonly path: string
  readonly field: Field
}

function leaves(spec: RecordSpec, path: string): Leaf[] {
  return Object.entries(spec.fields).flatMap(([key, field]) => {
    const at = `${path}.${key}`
    return field.record ? leaves(field.record, at) : [{ path: at, field }]
  })
}

/** Values other than the default that the key allows. */
function others({ path, field }: Leaf): unknown[] {
  const key = path.slice(path.lastIndexOf('.') + 1)
  if (key === 'dtype') return ['float32']
  if (key === 'optimizer') return ['sgd']
  if (/^(warmup_style|lr_scheduler_type)$/.test(key)) return ['linear']
  if (key === 'betas') return [[0.5, 0.6]]
  if (key === 'strategy') return ['megatron']
  const value = { bool: [true, false], int: [2, 7], float: [0.25, 3], str: ['word'], enum: field.values ?? [] }
  const own = value[field.kind as keyof typeof value] ?? (field.kind === 'list' ? [['word']] : [{ word: 1 }])
  const allowed = (one: unknown) => typeof one !== 'number' || (one >= (field.min ?? 0) && one <= (field.max ?? 9))
  return own.filter((one) => allowed(one) && JSON.stringify(one) !== JSON.stringify(field.initial?.()))
}

/** Situations in which keys that depend on others come to bear. */
const SITUATIONS: readonly Record<string, unknown>[] = [
  { 'algorithm.optimizer.lr_warmup_steps': 3, [`${TREE}.critic.optim.lr_warmup_steps`]: 3 },
  {
    'trainer.use_dynamic_bsz': false,
    'algorithm.loss_agg_mode': 'seq-mean-token-sum-norm',
    'algorithm.optimizer.lr_scheduler_type': 'cosine',
    [`${TREE}.critic.optim.lr_scheduler_type`]: 'cosine',
  },
]

const rows = [{ tokens: new Int32Array(11) }] as unknown as Row[]

function shown({ schedule, budget, scoreBudget, ...rest }: UpdateSettings | CriticSettings) {
  const rates = Array.from({ length: 12 }, (_, i) => schedule.at(i + 1))
  const { referenceBudget } = rest as { referenceBudget?: typeof budget }
  return { ...rest, rates, budgets: [budget, scoreBudget, referenceBudget].map((one) => one?.(rows)) }
}

/** Everything that a run takes from a configuration where the tree might have a say, except the tree itself. */
function effects(config: Config, engine: string): string {
  try {
    return effectsOf(config, engine)
  } catch (error) {
    // a value that is refused was read
    if (error instanceof TrinityError) return error.message
    throw error
  }
}

function effectsOf(config: Config, engine: string): string {
  const { trainer_config: _, ...trainer } = config.trainer
  return JSON.stringify({
    config: { ...config, trainer },
    loss: lossOf(config).graph,
    actor: shown(actorSettings(config, 20)),
    critic: shown(criticSettings(config, 20)),
    recomputes: (['actor_rollout_ref', 'critic'] as const).map((part) =>
      [true, false].map((usual) => recomputes(config, part, usual)),
    ),
    torch: engine === 'torch' && torchOptions(config),
  })
}

const load = (engine: string, keys: Record<string, unknown>) => {
  const own = { 'explorer.rollout_model.engine_type': engine, 'trainer.trainer_type': engine, mode: 'train' }
  const set = settings({ ...own, 'buffer.train_batch_size': 8, ...keys })
  const { stages, remarks } = resolveAll(BASE, { set, gpus: engine === 'torch' ? 14 : 0, pytorch: engine === 'torch' })
  return { config: stages[0].config, remarks }
}

describe.each(['native', 'torch'])('every key of veRL’s tree, on the %s engine,', (engine) => {
  const all = leaves(trainerConfig, TREE)
  const plain = SITUATIONS.map((situation) => effects(load(engine, situation).config, engine))

  it.each(all.map((leaf) => [leaf.path, leaf] as const))('has an effect or a note: %s', (_, leaf) => {
    // all values, and one in each further situation, until it is known that the key has an effect and no note
    const cases = SITUATIONS.flatMap((_, i) => others(leaf).map((value, k) => ({ i, value, k })))
    let [noted, changes] = [true, false]
    expect(cases.length).toBeGreaterThan(0)
    for (const { i, value, k } of cases) {
      if (noted ? i > 0 && k > 0 : changes) continue
      const { config, remarks } = load(engine, { ...SITUATIONS[i], [leaf.path]: value })
      noted &&= remarks.some(({ code, key, message }) => {
        return code === 'no-effect' && (key === leaf.path || message.includes(leaf.path))
      })
      changes ||= effects(config, engine) !== plain[i]
    }
    expect({ noted, changes }, 'one of the two').toEqual({ noted: !changes, changes: !noted })
  })
})

describe('values of the tree', () => {
  const of = (keys: Record<string, unknown>) => {
    const set = Object.fromEntries(Object.entries(keys).map(([key, value]) => [`${TREE}.${key}`, value]))
    return load('native', set).config
  }
  it('of zero are zero', () => {
    const config = of({
      'critic.cliprange_value': 0,
      'critic.data_loader_seed': 0,
      'critic.optim.num_cycles': 0,
      'critic.optim.override_optimizer_config.eps': 0,
      'critic.grad_clip': 0,
      'actor_rollout_ref.actor.data_loader_seed': 0,
    })
    expect(criticSettings(config, 9)).toMatchObject({ cliprange_value: 0, seed: 0, adam: { eps: 0, gradClip: 0 } })
    expect(trainerTree(config).critic.optim.num_cycles).toBe(0)
    expect(actorSettings(config, 9).seed).toBe(0)
  })
  it('of null are the defaults', () => {
    const { critic } = trainerTree(of({ 'critic.optim': { lr: null, betas: null, override_optimizer_config: null } }))
    expect(critic.optim).toMatchObject({ lr: 1e-5, betas: [0.9, 0.999], override_optimizer_config: { eps: 1e-8 } })
  })
  it('below what they can be are errors, with their key', () => {
    for (const key of ['critic.ppo_epochs', 'actor_rollout_ref.actor.ppo_micro_batch_size']) {
      expect(() => of({ [key]: 0 })).toThrowError(new RegExp(`${key}.*at least 1`, 's'))
    }
  })
  it('that say nothing leave the defaults of veRL and of this program', () => {
    expect(criticSettings(of({}), 9)).toMatchObject({
      epochs: 1,
      seed: 42,
      cliprange_value: 0.5,
      adam: { eps: 1e-8, weightDecay: 0.01, gradClip: 1 },
    })
    expect(actorSettings(of({ 'actor_rollout_ref.actor.optim.total_training_steps': -1 }), 9)).toMatchObject({
      seed: 42,
    })
  })
})

describe('the limit of the gradient norm', () => {
  const clips = (keys: Record<string, unknown>) => {
    const { config } = load('native', keys)
    return [actorSettings(config, 9), criticSettings(config, 9)].map(({ adam }) => adam.gradClip)
  }
  const POLICY = `${TREE}.actor_rollout_ref.actor`

  it('is the most particular that is set', () => {
    expect(clips({ 'trainer.grad_clip': 0.7 })).toEqual([0.7, 0.7])
    expect(clips({ [`${POLICY}.grad_clip`]: 0.6 })).toEqual([0.6, 0.6])
    const optimizer = { 'trainer.grad_clip': 0.7, 'algorithm.optimizer.clip_grad': 0.5 }
    expect(clips(optimizer)).toEqual([0.5, 0.7])
    expect(clips({ ...optimizer, [`${POLICY}.optim.clip_grad`]: 0.4 })).toEqual([0.4, 0.7])
    expect(clips({ ...optimizer, [`${POLICY}.optim.clip_grad`]: null })).toEqual([0.5, 0.7])
    const critic = { ...optimizer, [`${TREE}.critic.grad_clip`]: 0.3 }
    expect(clips(critic)).toEqual([0.5, 0.3])
    expect(clips({ ...critic, [`${TREE}.critic.optim.clip_grad`]: 0 })).toEqual([0.5, 0])
  })
})
