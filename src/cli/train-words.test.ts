import { describe, expect, it } from 'vitest'
import { TrinityError } from '../base/error.js'
import { inOptions, words } from './train-words.js'

describe('the words of trinity train', () => {
  it.each([
    ['set buffer.batch_size to 4 or less, or buffer.total_steps', 'set --batch to 4 or less, or --steps'],
    [
      'trinity train a.ts --steps 2 --set buffer.total_steps=…   trains longer',
      'trinity train a.ts --steps 2 --steps …   trains longer',
    ],
    [
      'buffer.train_batch_size and my.buffer.batch_size.x stay',
      'buffer.train_batch_size and my.buffer.batch_size.x stay',
    ],
  ])('%s', (text, said) => expect(words(text)).toBe(said))

  it('are those of its errors', () => {
    const error = new TrinityError('task/no-batch', '4 tasks do not fill one batch', {
      path: 'buffer.batch_size',
      hint: 'set buffer.batch_size to 4',
    })
    expect(inOptions(error)).toMatchObject({ code: 'task/no-batch', path: '--batch', hint: 'set --batch to 4' })
    const other = new RangeError('buffer.batch_size')
    expect(inOptions(other)).toBe(other)
  })
})
