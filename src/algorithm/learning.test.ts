import { describe, expect, it } from 'vitest'
import { Pcg64 } from '../base/random/index.js'
import { MockTrainModel } from '../engine/mock/train.js'
import { createExperience, type Experience } from '../experience/index.js'
import { advantageFns, algorithms, buildCriticLoss, buildLoss, toRows } from './index.js'

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
  const expert = player.answer(GOOD, 9, 0)
  return [...played, { ...expert, reward: 0, info: { is_expert: true } }]
}

describe('every algorithm learns a game of one move', () => {
  it.each(algorithms.names())('%s', async (name) => {
    const { defaults, use_critic } = algorithms.get(name)
    const player = new Player(7)
    const loss = buildLoss(defaults)
    const critic = buildCriticLoss()
    const advantage = defaults.advantage_fn ? advantageFns.get(defaults.advantage_fn) : undefined
    const args = advantage && advantageFns.parse(defaults.advantage_fn!, defaults.advantage_fn_args, 'args')
    const before = player.probability(GOOD)
    for (let step = 1; step <= 25; step++) {
      const made = batch(name, player)
      const scored = advantage ? advantage.compute(made, args!, player).experiences : made
      const rows = toRows(scored, loss.columns, { step, later: ['ref'] })
      const ref = (length: number) => new Float32Array(length).fill(-Math.log(VOCAB))
      const ready = rows.map((row) => ({ ...row, columns: { ...row.columns, ref: ref(row.mask.length) } }))
      // A token budget of 10 makes several micro-batches of it.
      const { loss: value } = await player.model.forwardBackward({ rows: ready, tokenBudget: 10 }, loss, player.call())
      expect(Number.isFinite(value)).toBe(true)
      if (use_critic) {
        const values = toRows(scored, critic.columns, { step })
        await player.model.forwardBackward({ rows: values, tokenBudget: 10 }, critic, player.call())
      }
      await player.model.optimStep(adam, player.call())
    }
    expect(before).toBeCloseTo(1 / VOCAB, 9)
    expect(player.probability(GOOD)).toBeGreaterThan(0.5)
  })
})
