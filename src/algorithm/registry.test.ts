import { describe, expect, it } from 'vitest'
import { createExperience } from '../experience/index.js'
import {
  advantageFns,
  algorithms,
  buildLoss,
  entropyLossFns,
  klFns,
  policyLossFns,
  sampleStrategies,
  toRows,
} from './index.js'

/** Components in effect, as users know them: type, critic reference trainer balance, schema, repeat, components. */
const TABLE = `
cpt 0001 cpt - default - sft none none none
sft 0001 sft - default - sft none none none
ppo 1111 experience 1 default ppo ppo none k2 default
grpo 0101 experience 2 default grpo ppo none k2 default
dapo 0001 experience 16 default grpo ppo none none default
reinforceplusplus 0111 experience 2 default reinforceplusplus ppo none k2 default
rloo 0111 experience 2 default rloo ppo none k2 default
opmd 0101 experience 2 default opmd opmd none k2 default
asymre 0001 experience 2 default asymre opmd none none none
dpo 0100 dpo 2 default - dpo none k2 default
topr 0101 experience 2 default reinforce topr none k2 default
cispo 0101 experience 2 default grpo cispo none k2 default
gspo 0101 experience 2 default grpo gspo none k2 default
sapo 0101 experience 2 default grpo sapo none k2 default
mix 0101 experience 8 mix grpo mix none k2 mix
mix_chord 0101 experience 8 mix grpo mix_chord none k2 mix
raft 0001 experience - default raft sft none none none
sppo 0001 experience 2 default opmd sppo none none none
rec 0101 experience 2 default rec rec none k2 default
multi_step_grpo 0101 experience 8 default step_wise_grpo ppo none k2 default
gigpo 0101 experience 8 default gigpo ppo none k2 default
on_policy_distill 0011 experience 8 default on_policy_distill ppo none none none
jsd 0011 experience 8 default jsd ppo none none none
grpo_verl 0111 experience 2 default grpo_verl ppo none k2 default
critique_grpo 0101 experience 8 critique_grpo grpo critique_grpo none k3 default
grpo_reweight_adv 0101 experience 8 default grpo_reweight_adv ppo none k2 default
opmd_reweight_adv 0101 experience 8 default opmd_reweight_adv opmd none k2 default
R3L 0001 experience 8 default opmd_reweight_adv r3l none none default
step_R3L 0001 experience 8 default step_wise_opmd_reweight_adv r3l none none default
step_opmd 0101 experience 8 default step_wise_opmd opmd none k2 default
step_opmd_reweight_adv 0001 experience 8 default step_wise_opmd_reweight_adv opmd none none default
`
  .trim()
  .split('\n')
  .map((line) => line.split(' '))

describe('algorithm table', () => {
  it.each(TABLE)('%s', (name, ...expected) => {
    const { defaults: d, schema, ...flags } = algorithms.get(name)
    const bits = [flags.use_critic, flags.use_reference, flags.compute_advantage_in_trainer, flags.can_balance_batch]
    const repeat = d.repeat_times === undefined ? '-' : String(d.repeat_times)
    const components = [
      d.sample_strategy,
      d.advantage_fn ?? '-',
      d.policy_loss_fn,
      d.kl_penalty_fn,
      d.kl_loss_fn,
      d.entropy_loss_fn,
    ]
    expect([bits.map(Number).join(''), schema, repeat, ...components]).toEqual(expected)
  })

  it('is complete', () => {
    expect(algorithms.names().sort()).toEqual(TABLE.map(([name]) => name).sort())
    expect(advantageFns.names().length).toBe(18 + 5)
    expect(policyLossFns.names().length).toBe(15 + 2 + 7)
    expect(klFns.names().length).toBe(7)
    expect(entropyLossFns.names().length).toBe(3)
    expect(sampleStrategies.names().length).toBe(4 + 2)
  })

  it.each(algorithms.names())('%s fits together', (name) => {
    const { defaults, ...facts } = algorithms.get(name)
    const loss = buildLoss(defaults)
    const reads = loss.columns.map((column) => column.name)
    if (reads.includes('ref')) expect(facts.use_reference).toBe(true)
    sampleStrategies.get(defaults.sample_strategy)
    if (defaults.advantage_fn === undefined) {
      expect(facts.schema).not.toBe('experience')
      expect(reads).not.toContain('advantage')
      return
    }
    const advantage = advantageFns.get(defaults.advantage_fn)
    expect(advantage.where).toBe(facts.compute_advantage_in_trainer ? 'trainer' : 'explorer')
    expect(advantage.args.safeParse(defaults.advantage_fn_args ?? {}).success).toBe(true)
    expect(advantage.needs.includes('values')).toBe(facts.use_critic)
    // Otherwise the reward has no effect: every answer is imitated, right or wrong.
    expect(reads.includes('advantage') || advantage.selects === true).toBe(true)
  })
})

describe('toRows', () => {
  const full = createExperience({
    eid: { batch: 1, task: 2, run: 3, suffix: 'abcdef' },
    tokens: [1, 2, 3, 4],
    promptLength: 2,
    logprobs: [-1, -2],
    advantages: [0.5, 0.5],
    refLogprobs: [-1, -1],
    temperature: 0.7,
    info: { is_expert: true },
    columns: { mine: 3 },
  })

  it('gives an engine what a loss reads', () => {
    const columns = ['advantage', 'old', 'ref', 'expert', 'off_policy', 'step', 'mine'].map((name) => ({
      name,
      shape: 'row' as const,
    }))
    const [row] = toRows([full], columns, { step: 12 })
    expect(row).toMatchObject({ id: '1/2/3/0/abcdef', start: 2, temperature: 0.7 })
    expect(row.columns).toEqual({
      advantage: full.advantages, old: full.logprobs, ref: full.refLogprobs, expert: 1, off_policy: 0, step: 12, mine: 3,
    }) // biome-ignore format: short
  })

  it('takes the trainer’s own log-probs before those of the sampler', () => {
    const own = { ...full, oldLogprobs: Float32Array.of(-3, -3) }
    expect(toRows([own], [{ name: 'old', shape: 'token' }], { step: 0 })[0].columns.old).toBe(own.oldLogprobs)
  })

  it('makes two rows of a pair, which are never separated', () => {
    const pair = createExperience({ tokens: [1, 2], chosen: [3, 4, 5], rejected: [6] })
    const rows = toRows([pair], buildLoss({ policy_loss_fn: 'dpo' }).columns, { step: 0, later: ['ref'] })
    expect(rows.map((row) => [[...row.tokens], row.start, row.mask.length, row.columns.chosen])).toEqual([
      [[1, 2, 3, 4, 5], 2, 3, 1],
      [[1, 2, 6], 2, 1, 0],
    ])
    expect(rows[0].bundle).toBe(rows[1].bundle)
    expect(rows[0].id).not.toBe(rows[1].id)
  })

  it('says what is missing', () => {
    const bare = createExperience({ tokens: [1, 2] })
    expect(() => toRows([bare], [{ name: 'advantage', shape: 'token' }], { step: 0 })).toThrowError(
      expect.objectContaining({ code: 'algorithm/missing-input', path: 'advantage' }),
    )
  })
})
