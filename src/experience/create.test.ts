import { describe, expect, it } from 'vitest'
import { TrinityError } from '../base/error.js'
import { createExperience } from './create.js'
import { groupBy, makeEid, responseLength, rid, sid, tid, uid } from './experience.js'

describe('ids', () => {
  it('derives the four keys', () => {
    const eid = makeEid({ batch: 3, task: 'a', run: 2, step: 1, suffix: '00ff00' })
    expect([uid(eid), tid(eid), rid(eid), sid(eid)]).toEqual(['3/a/2/1/00ff00', '3/a', '3/a/2', '3/a/1'])
  })

  it('makes a suffix of six hexadecimal digits', () => {
    expect(makeEid().suffix).toMatch(/^[0-9a-f]{6}$/)
  })

  it('groups in order of first appearance', () => {
    const make = (task: number, run: number) => createExperience({ eid: { batch: 0, task, run }, tokens: [1, 2] })
    const groups = groupBy([make(1, 0), make(0, 0), make(1, 1)], tid)
    expect([...groups].map(([key, rows]) => [key, rows.map((row) => row.eid.run)])).toEqual([
      ['0/1', [0, 1]],
      ['0/0', [0]],
    ])
  })
})

describe('createExperience', () => {
  it('infers a single turn and trains on the whole response', () => {
    const experience = createExperience({ tokens: [5, 6, 7, 8], promptLength: 1, logprobs: [-1, -2, -3] })
    expect(experience.type).toBe('single_turn')
    expect(experience.actionMask).toEqual(Uint8Array.of(1, 1, 1))
    expect(experience.logprobs).toBeInstanceOf(Float32Array)
    expect(experience.reward).toBeUndefined()
    expect(responseLength(experience)).toBe(3)
  })

  it('leaves out what is given as undefined', () => {
    const experience = createExperience({
      tokens: [1, 2],
      reward: undefined,
      logprobs: undefined,
      promptText: undefined,
    })
    expect(Object.keys(experience)).not.toEqual(expect.arrayContaining(['reward']))
    expect('promptText' in experience || 'logprobs' in experience).toBe(false)
  })

  it('infers several turns from a mask, and a pair from two answers', () => {
    expect(createExperience({ tokens: [1, 2, 3], actionMask: [true, false] }).type).toBe('multi_turn')
    const pair = createExperience({ tokens: [1, 2, 3], promptLength: 1, chosen: [4], rejected: [5, 6] })
    expect([pair.type, pair.promptLength, pair.actionMask.length]).toEqual(['dpo', 3, 0])
  })

  it('never trains on a cut prompt', () => {
    const cut = createExperience({ tokens: [1, 2, 3], promptLength: 2, truncateStatus: 'prompt_truncated' })
    expect(cut.actionMask).toEqual(Uint8Array.of(0))
  })

  it('keeps a failed run without a response', () => {
    const failed = createExperience({ tokens: [], promptLength: 0, failure: { reason: 'timeout', message: '30 s' } })
    expect(failed.failure?.reason).toBe('timeout')
    expect(failed.reward).toBeUndefined()
  })

  it('takes the oldest version of its spans', () => {
    const versions = [
      { version: 4, from: 0 },
      { version: 5, from: 1 },
    ]
    expect(createExperience({ tokens: [1, 2, 3], versions }).modelVersion).toBe(4)
  })

  it.each([
    ['empty response', { tokens: [1, 2], promptLength: 2 }, 'tokens'],
    ['no prompt', { tokens: [1, 2], promptLength: 0 }, 'promptLength'],
    ['prompt longer than the sequence', { tokens: [1], promptLength: 4 }, 'promptLength'],
    ['short log-probs', { tokens: [1, 2, 3], logprobs: [0] }, 'logprobs'],
    ['long mask', { tokens: [1, 2], actionMask: [1, 1] }, 'actionMask'],
    ['short column', { tokens: [1, 2, 3], columns: { x: new Float32Array(1) } }, 'columns.x'],
    ['pair without an answer', { tokens: [1], chosen: [], rejected: [1], type: 'dpo' as const }, 'chosen'],
  ])('refuses: %s', (_, init, path) => {
    try {
      createExperience(init)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(TrinityError)
      expect(error).toMatchObject({ code: 'experience/invalid', path })
    }
  })
})
