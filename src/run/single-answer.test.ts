import { expect, it } from 'vitest'
import { BASE, resolve } from '../../test/config-kit.js'
import { singleAnswer } from './single-answer.js'

const told = (...set: string[]) => singleAnswer(resolve(BASE, { set }))

it('warns of one answer where answers are compared', () => {
  expect(told('algorithm.algorithm_type=grpo', 'algorithm.repeat_times=1')).toMatch(/repeat_times is 1: grpo/)
  expect(told('algorithm.algorithm_type=rloo', 'algorithm.repeat_times=1')).toContain('rloo')
})

it('says nothing of several, nor where each answer stands for itself', () => {
  expect(told('algorithm.algorithm_type=grpo', 'algorithm.repeat_times=2')).toBeUndefined()
  expect(told('algorithm.algorithm_type=ppo', 'algorithm.repeat_times=1')).toBeUndefined()
})
