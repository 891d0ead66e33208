import { expect, it } from 'vitest'
import type { Episode } from '../../environment/index.js'
import { briefCorrection, briefReflection } from './brief.js'

it('tells an episode as it was said, and gives the advice alone', () => {
  const past = ['a', 'b'].map((reply) => ({ prompt: 'Make 3 from 1, 2', reply }))
  const episode = { turn: { past }, won: false } as unknown as Episode
  expect(briefReflection(episode)).toEqual([
    { role: 'user', content: 'Reflect.\n0: Make 3 from 1, 2\na\n1: Make 3 from 1, 2\nb\nFailure' },
  ])
  expect(briefReflection({ ...episode, won: true } as Episode)[0].content).toMatch(/\nSuccess$/)
  expect(briefCorrection({ improvement_suggestion: 'try 1+2', retry_from_step: 0 })).toBe('try 1+2')
})
