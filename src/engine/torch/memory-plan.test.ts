import { describe, expect, it } from 'vitest'
import { shapeOf } from '../../../test/support/model-shapes.js'
import { total } from './memory-model.js'
import { cacheOn, needOf, type PlanInput, phasesOf, planMemory } from './memory-plan.js'
import { memoryText, misfits } from './memory-text.js'

const GIB = 2 ** 30
const config = shapeOf('1.5b')
const policy = {
  name: 'policy',
  config,
  head: 'lm',
  options: {},
  trains: { checkpointing: false, bundles: false },
  tokens: 8192,
  longest: 2048,
} as const
const sampler = { name: 'sampler', config, options: {}, copies: 0, maxModelLen: 2048 } as const
const colocate: PlanInput = { ranks: 1, models: [policy], samplers: [sampler], share: 0.9, turns: true }
const card = (gib: number) => ({ name: 'a card', bytes: gib * GIB })

describe('the memory plan of a device', () => {
  it('has phases that take turns, or one on top of the other', () => {
    const plan = planMemory(colocate)
    const [standing, training, rollout] = [plan.standing, plan.training, plan.rollout].map(total)
    const least = 2048 * 28 * 2 * 2 * 128 * 2
    expect(plan.cache).toEqual({ perToken: least / 2048, least, most: 1024 * least })
    expect(phasesOf(plan)).toEqual([
      { name: 'training', bytes: standing + training, share: 1 },
      { name: 'rollout', bytes: standing + rollout + least, share: 0.9 },
    ])
    expect(phasesOf(planMemory({ ...colocate, turns: false }))[0]).toEqual({
      name: 'training beside rollout',
      bytes: standing + training + rollout + least,
      share: 1,
    })
    expect(phasesOf(planMemory({ ...colocate, samplers: [] })).map(({ name }) => name)).toEqual(['training'])
    expect(phasesOf(planMemory({ ...colocate, models: [], turns: false })).map(({ name }) => name)).toEqual(['rollout'])
  })

  it('gives the cache what is left, up to a full batch', () => {
    const plan = planMemory(colocate)
    expect(cacheOn(plan, 140 * GIB)).toEqual({ bytes: plan.cache!.most, stays: true })
    const small = cacheOn(plan, 60 * GIB)!
    expect(small.bytes).toBeCloseTo(0.9 * 60 * GIB - total(plan.standing) - total(plan.rollout), 0)
    expect(small.stays).toBe(false)
    const both = cacheOn(planMemory({ ...colocate, turns: false }), 60 * GIB)!
    expect(both).toEqual({ bytes: expect.closeTo(small.bytes - total(plan.training), 0), stays: true })
    expect(cacheOn(planMemory({ ...colocate, samplers: [] }), 60 * GIB)).toBeUndefined()
  })

  it('counts the weights of samplers that have their own, and those that arrive', () => {
    const standing = (copies: 0 | 1 | 2) =>
      total(planMemory({ ...colocate, samplers: [{ ...sampler, copies }] }).standing)
    const weights = 2 * 1_543_714_304
    expect(standing(1) - standing(0)).toBe(weights)
    expect(standing(2) - standing(1)).toBe(weights + GIB)
  })

  it('only the model that takes most counts while training', () => {
    const critic = { ...policy, name: 'critic', head: 'value', tokens: 4096 } as const
    const plan = planMemory({ ...colocate, models: [policy, critic] })
    expect(plan.training).toEqual(planMemory(colocate).training)
    expect(total(plan.standing)).toBeGreaterThan(1.9 * total(planMemory(colocate).standing))
  })

  it('goes to the workers as whole bytes with advice', () => {
    const plan = planMemory(colocate)
    const need = needOf(plan, ({ name }) => `advice on ${name}`)
    for (const size of [need.standing, need.training, need.scoring, need.rollout])
      expect(Number.isInteger(size)).toBe(true)
    expect(need.phases.map(({ hint }) => hint)).toEqual(['advice on training', 'advice on rollout'])
    expect(need.phases[0].bytes).toBeGreaterThanOrEqual(need.standing + need.training - 2)
  })

  it('in words', () => {
    const plan = planMemory(colocate)
    const [always, training, rollout, ...more] = memoryText(plan, undefined)
    expect(always).toBe(
      'always 27.4 GiB = policy: weights 2.9 GiB + float32 weights 5.8 GiB + gradients 5.8 GiB + moments 11.5 GiB + CUDA 1.5 GiB',
    )
    expect(training).toMatch(/^training \+ 22\.\d GiB = activations of 8192 tokens 18\.\d GiB \+ logits 3\.3 GiB$/)
    expect(rollout).toMatch(/28\.0 KiB a token: 56\.0 MiB \(one sequence\) to 56\.0 GiB \(a full batch\)$/)
    expect(more).toEqual([])
    expect(memoryText(plan, card(140))[3]).toMatch(
      /^of 140 GiB \(a card\): training 49\.\d GiB, rollout 29\.\d GiB; a cache of 56\.0 GiB = 2,097,152 tokens, which stays/,
    )
    expect(memoryText(plan, card(60))[3]).toMatch(/whose memory the trainer gets while it computes$/)
    expect(misfits(plan, card(60))).toEqual([])
    expect(misfits(plan, card(40)).map(({ text }) => text)).toEqual([
      expect.stringMatching(/^training needs about 49\.\d GiB of GPU memory; the GPU has 40\.0 GiB$/),
    ])
    expect(misfits(plan, card(30)).map(({ text }) => text)[1]).toMatch(
      /^rollout .* 30\.0 GiB, of which 90 % may be used$/,
    )
  })
})
