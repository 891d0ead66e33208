import { describe, expect, it } from 'vitest'
import { TrinityError } from '../base/error.js'
import { isWrongUse, noteDuringRun } from '../base/wrong-use.js'
import { ConfigError } from '../config/index.js'
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
    expect(inOptions(error, 'train a.ts')).toMatchObject({
      code: 'task/no-batch',
      path: '--batch',
      hint: 'set --batch to 4',
    })
    const other = new RangeError('buffer.batch_size')
    expect(inOptions(other, 'train a.ts')).toBe(other)
  })

  it('leave the exit code as it was: it depends on when data were found to be bad', () => {
    const late = new TrinityError('data/malformed', 'not valid JSON')
    noteDuringRun(late)
    expect(isWrongUse(inOptions(late, 'train a.ts'))).toBe(false)
    const early = new TrinityError('data/malformed', 'not valid JSON')
    expect(isWrongUse(inOptions(early, 'train a.ts'))).toBe(true)
  })

  it('name the option of a problem, and no place in a file that there is not', () => {
    const problem = {
      severity: 'error',
      code: 'c',
      message: 'm',
      mark: { file: 'train a.ts', line: 3, column: 7 },
    } as const
    const set = { file: '--set buffer.x', line: 1, column: 1 }
    const error = new ConfigError('train a.ts', [
      { ...problem, key: 'name' },
      { ...problem, key: 'model.max_model_len', hint: 'lower model.max_model_len' },
      { ...problem, key: 'buffer.x', mark: set },
    ])
    expect((inOptions(error, 'train a.ts') as Error).message).toBe(
      '3 problems in train a.ts\n  --name: m\n  --length: m (lower --length)\n  --set buffer.x:1:1 buffer.x: m',
    )
  })
})
