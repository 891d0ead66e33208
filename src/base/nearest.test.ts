import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearest } from './nearest.js'

describe('nearest', () => {
  const keys = ['learning_rate', 'lr', 'repeat_times', 'batch_size', 'train_batch_size']

  it('finds what a typing mistake meant', () => {
    expect(nearest('repeat_time', keys)).toBe('repeat_times')
    expect(nearest('bacth_size', keys)).toBe('batch_size')
    expect(nearest('Repeat_Times', keys)).toBe('repeat_times')
  })

  it('stays silent when nothing is near', () => {
    expect(nearest('zebra', keys)).toBeUndefined()
    expect(nearest('x', [])).toBeUndefined()
    expect(nearest('cod', ['log', 'mode'])).toBeUndefined()
    expect(nearest('lgo', ['log'])).toBe('log')
  })

  it('always finds a candidate itself, and one swap away from it', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z_]{4,20}$/), fc.nat(), (word, at) => {
        const i = at % (word.length - 1)
        const swapped = word.slice(0, i) + word[i + 1] + word[i] + word.slice(i + 2)
        expect(nearest(word, [word])).toBe(word)
        expect(nearest(swapped, [word])).toBe(word)
      }),
    )
  })
})
