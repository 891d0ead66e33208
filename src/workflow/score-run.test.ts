import { describe, expect, it, vi } from 'vitest'
import { contextOf, modelOf, silent, speaker, taskOf } from '../../test/support/workflow-kit.js'
import { TrinityError } from '../base/error.js'
import { createExperience } from '../experience/index.js'
import { SimpleWorkflow } from './index.js'
import { scoreRun } from './score-run.js'

const quick = { attempts: 4, pauseMs: 1, limitMs: 50 }
const around = () => ({ signal: new AbortController().signal, logger: silent })
const answer = () => createExperience({ tokens: [1, 2, 3], responseText: 'x' })

describe('a reward that fails', () => {
  it('is asked for again, and nothing is sampled again', async () => {
    const experience = answer()
    const score = vi.fn().mockRejectedValueOnce(new Error('429')).mockRejectedValueOnce(new Error('429'))
    score.mockResolvedValue({ judge: 0.5 })
    await scoreRun(experience, score, around(), quick)
    expect(score).toHaveBeenCalledTimes(3)
    expect(experience).toMatchObject({ reward: 0.5, metrics: { judge: 0.5 } })
    expect(experience.failure).toBeUndefined()
  })

  it('for good stays with its reason and its tokens', async () => {
    const experience = answer()
    const score = vi.fn().mockRejectedValue(new Error('429 too many requests'))
    await scoreRun(experience, score, around(), quick)
    expect(score).toHaveBeenCalledTimes(4)
    expect(experience.failure).toEqual({ reason: 'reward_error', message: '429 too many requests' })
    expect([experience.reward, experience.tokens.length]).toEqual([undefined, 3])
  })

  it.each([
    [new ReferenceError('x is not defined'), 'reward_error'],
    [new TypeError('x is not a function'), 'reward_error'],
    [new TrinityError('reward/not-finite', 'gave NaN'), 'invalid_reward'],
  ])('by a mistake in its code is not asked for again: %s', async (error, reason) => {
    const experience = answer()
    const score = vi.fn().mockRejectedValue(error)
    await scoreRun(experience, score, around(), quick)
    expect(score).toHaveBeenCalledTimes(1)
    expect(experience.failure?.reason).toBe(reason)
  })

  it('because the task is wrong fails the run as it did', async () => {
    const wrong = new TrinityError('reward/no-truth', 'no truth')
    await expect(scoreRun(answer(), () => Promise.reject(wrong), around(), quick)).rejects.toBe(wrong)
  })
})

describe('a reward that hangs', () => {
  it('is given up at its limit, and its signal has fired', async () => {
    const experience = answer()
    let seen: AbortSignal | undefined
    const hangs = (signal: AbortSignal) => {
      seen = signal
      return new Promise<undefined>(() => {})
    }
    await scoreRun(experience, hangs, around(), quick)
    expect(experience.failure).toMatchObject({ reason: 'reward_error', message: expect.stringContaining('0.05 s') })
    expect(seen?.aborted).toBe(true)
  })

  it('ends with the run', async () => {
    const control = new AbortController()
    const run = scoreRun(answer(), () => new Promise(() => {}), { signal: control.signal, logger: silent })
    control.abort(new Error('time is up'))
    await expect(run).rejects.toThrow('time is up')
  })
})

it('one failed reward does not cost the others of its group', async () => {
  class Judged extends SimpleWorkflow {
    override reward({ responseText }: { responseText?: string }) {
      if (responseText === 'b') throw new ReferenceError('no judge for b')
      return { judge: 1 }
    }
  }
  const model = modelOf(await speaker(() => ['a', 'b', 'c']), { n: 3 })
  const group = await new Judged(contextOf(model, { task: taskOf(), repeat: 3 })).run()
  expect(group.map(({ reward }) => reward)).toEqual([1, undefined, 1])
  expect(group.map(({ failure }) => failure?.reason)).toEqual([undefined, 'reward_error', undefined])
})
