import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TrinityError } from '../base/error.js'
import { readFeedback } from './feedback.js'

describe('feedback', () => {
  it('is read as the original client sends it', () => {
    const body = { reward: 0.5, msg_ids: ['a', 'b', 'a'], task_id: '0f3c2a' }
    expect(readFeedback(body)).toEqual({ reward: 0.5, ids: ['a', 'b'], task: '0f3c2a', run: 0 })
    expect(readFeedback({ reward: true, msg_ids: ['a'], task_id: 7, run_id: 3 })).toMatchObject({
      ...{ reward: 1, task: '7', run: 3 },
    })
    expect(readFeedback({ reward: 0, msg_ids: ['a'], task_id: null })).toMatchObject({ reward: 0, task: '' })
  })

  it.each([
    [{}, /reward.*msg_ids/],
    [{ reward: '1', msg_ids: ['a'] }, /reward: expected a finite number/],
    [{ reward: Number.POSITIVE_INFINITY, msg_ids: ['a'] }, /reward: expected a finite number/],
    [{ reward: 1, msg_ids: 'a' }, /msg_ids/],
    [{ reward: 1, msg_ids: [] }, /msg_ids/],
    [{ reward: 1, msg_ids: [1] }, /msg_ids\.0/],
    [{ reward: 1, msg_ids: ['a'], run_id: -1 }, /run_id/],
    [{ reward: 1, msg_ids: ['a'], run_id: 1.5 }, /run_id/],
    [{ reward: 1, msg_ids: ['a'], run_id: 2 ** 31 }, /run_id/],
    [{ reward: 1, msg_ids: ['a'], task_id: {} }, /task_id: expected a string or a whole number/],
    [{ reward: 1, msg_ids: ['a'], task_id: 'a\0b' }, /task_id/],
    [{ reward: 1, msg_ids: ['a', 'b\0'] }, /msg_ids\.1: expected a text without U\+0000/],
    [{ reward: 1, msg_id: ['a'] }, /msg_id: unknown argument/],
  ])('%j is refused in words', (body, words) => {
    expect(() => readFeedback(body)).toThrow(words)
  })

  it('whatever comes: it is read, or refused by our own error', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('reward', 'msg_ids', 'task_id', 'run_id', 'x'), fc.jsonValue()),
        (body) => {
          try {
            const { reward, ids, run } = readFeedback(body)
            return Number.isFinite(reward) && ids.length > 0 && Number.isInteger(run)
          } catch (error) {
            return error instanceof TrinityError && error.code === 'args/invalid'
          }
        },
      ),
    )
  })
})
