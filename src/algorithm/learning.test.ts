import { describe, expect, it } from 'vitest'
import { Pcg64 } from '../base/random/index.js'
import { MockTrainModel } from '../engine/mock/train.js'
import { createExperience, type Experience } from '../experience/index.js'
import { type AlgorithmDefaults, advantageFns, algorithms, buildCriticLoss, buildLoss, toRows } from './index.js'

const VOCAB = 6
const GOOD = 3
const info = { architecture: 'bigram', parameters: 0, trainableParameters: 0, vocabSize: VOCAB, maxModelLen: 64 }
const adam = { lr: 0.1, betas: [0.9, 0.999] as const, eps: 1e-8, weightDecay: 0, gradClip: 0 }

/** A policy over single-token answers to the prompt token 0. */
class Player {
  readonly model = new MockTrainModel(info, 'policy')
  readonly #random: Pcg64
  #seq = 0
  constructor(seed: number) {
    this.#random = new Pcg64(seed)
  }
  call = () => ({ seq: ++this.#seq, deadlineMs: 1000 })
  probability = (token: number) => Math.exp(this.model.bigram.logprobs(0, 1)[token])
  random = () => this.#random.random()

  play(task: number, run: number): Experience {
    const logp = this.model.bigram.logprobs(0, 1)
    let left = this.random()
    let token = 0
    while (token < VOCAB - 1 && left > Math.exp(logp[token])) left -= Math.exp(logp[token++])
    return this.answer(token, task, run)
  }

  /** Right: 1. Next to it: 0.3. A teacher nearly always gives the right answer. */
  answer(token: number, task: number, run: number): Experience {
    const logp = this.model.bigram.logprobs(0, 1)[token]
    return createExperience({
      eid: { batch: 0, task, run },
      tokens: [0, token],
      promptLength: 1,
      logprobs: [logp],
      refLogprobs: [-Math.log(VOCAB)],
      teacherLogprobs: [Math.log(token === GOOD ? 0.9 : 0.1 / (VOCAB - 1))],
      values: [this.model.bigram.value(0)],
      reward: token === GOOD ? 1 : Math.abs(token - GOOD) === 1 ? 0.3 : 0,
      info: { env_state_hash: 'start' },
    })
  }
}

/** One training batch: four groups of eight answers, or what the algorithm is fed with instead. */
function batch(name: string, player: Player): Experience[] {
  const { schema } = algorithms.get(name)
  if (schema === 'dpo') {
    return [1, 2, 4, 5].map((bad) => createExperience({ tokens: [0], chosen: [GOOD], rejected: [bad] }))
  }
  if (schema !== 'experience') return [player.answer(GOOD, 0, 0)]
  const played = Array.from({ length: 32 }, (_, i) => player.play(i >> 3, i & 7))
  if (!name.startsWith('mix')) return played
  return [...played, expert()]
}

/** A row of the expert data set, as the sample strategy `mix` adds it: no policy drew it, so it has no log-probs. */
const expert = () =>
  createExperience({
    tokens: [0, GOOD],
    promptLength: 1,
    reward: 0,
    logprobs: [0],
    advantages: [0],
    returns: [0],
    info: { is_expert: true },
  })

/** Training steps of an algorithm with its default components, or with some of them replaced. */
function trainer(name: string, player: Player, replaced: Partial<AlgorithmDefaults> = {}) {
  const { use_critic, ...algorithm } = algorithms.get(name)
  const defaults = { ...algorithm.defaults, ...replaced }
  const loss = buildLoss(defaults)
  const critic = buildCriticLoss()
  const advantage = defaults.advantage_fn ? advantageFns.get(defaults.advantage_fn) : undefined
  const args = advantage && advantageFns.parse(defaults.advantage_fn!, defaults.advantage_fn_args, 'args')
  return async (made: Experience[], step: number): Promise<number> => {
    // As in the trainer, expert rows have no part in the advantages.
    const isExpert = ({ info }: Experience) => info.is_expert === true
    const own = made.filter((one) => !isExpert(one))
    const scored = [...(advantage ? advantage.compute(own, args!, player).experiences : own), ...made.filter(isExpert)]
    const rows = toRows(scored, loss.columns, { step, later: ['ref'] })
    const ref = (length: number) => new Float32Array(length).fill(-Math.log(VOCAB))
    const ready = rows.map((row) => ({ ...row, columns: { ...row.columns, ref: ref(row.mask.length) } }))
    // A token budget of 10 makes several micro-batches of it.
    const { loss: value } = await player.model.forwardBackward({ rows: ready, tokenBudget: 10 }, loss, player.call())
    if (use_critic) {
      const values = toRows(scored, critic.columns, { step })
      await player.model.forwardBackward({ rows: values, tokenBudget: 10 }, critic, player.call())
    }
    await player.model.optimStep(adam, player.call())
    return value
  }
}

describe('every algorithm learns a game of one move', () => {
  it.each(algorithms.names())('%s', async (name) => {
    const player = new Player(7)
    const train = trainer(name, player)
    const before = player.probability(GOOD)
    for (let step = 1; step <= 25; step++) {
      const value = await train(batch(name, player), step)
      expect(Number.isFinite(value)).toBe(true)
    }
    expect(before).toBeCloseTo(1 / VOCAB, 9)
    expect(player.probability(GOOD)).toBeGreaterThan(0.5)
  })
})

describe('names with the same gradient on fresh rollouts, without KL', () => {
  const weightsAfter = async (name: string, replaced: Partial<AlgorithmDefaults> = {}) => {
    const player = new Player(7)
    await trainer(name, player, { ...replaced, kl_loss_fn: 'none' })(batch('grpo', player), 1)
    return player.model.bigram.weights
  }

  it.each([
    [['grpo', 'grpo_verl', 'cispo', 'sapo', 'multi_step_grpo', 'critique_grpo']],
    [['rec', 'sppo']],
    [['opmd', 'step_opmd']],
    [['opmd_reweight_adv', 'step_opmd_reweight_adv']],
    [['R3L', 'step_R3L']],
  ])('gives equal weights for %j', async ([first, ...others]) => {
    const weights = await weightsAfter(first)
    for (const name of others) expect(await weightsAfter(name), name).toEqual(weights)
  })

  it('gives the weights of grpo for dapo only without its groups and masks', async () => {
    const grpo = await weightsAfter('grpo')
    const more = (reward: number) => ({ ...new Player(7).answer(GOOD, 9, 0), reward })
    const player = new Player(7)
    const given = [...batch('grpo', player), more(1), { ...more(1), eid: { ...more(1).eid, run: 1 } }]
    await trainer('dapo', player)(given, 1)
    const own = new Player(7)
    await trainer('dapo', own, { advantage_fn_args: {} })(batch('grpo', own), 1)
    expect(own.model.bigram.weights).toEqual(grpo)
    // The further group has equal rewards: dapo leaves it out, so that it does not count in the mean.
    expect(player.model.bigram.weights).toEqual(grpo)
  })
})
