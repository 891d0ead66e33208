import { expect, it } from 'vitest'
import { TrinityError } from '../../base/error.js'
import { fromWireError, toWireError } from './wire-error.js'

const cross = (error: unknown) => fromWireError(structuredClone(toWireError(error)))

it('an error of ours stays one, with all that it says', () => {
  const error = new TrinityError('reward/none', 'no reward', { path: 'p', hint: 'set one' })
  const arrived = cross(error)
  expect(arrived).toBeInstanceOf(TrinityError)
  expect(arrived).toMatchObject({ code: 'reward/none', message: 'no reward', path: 'p', hint: 'set one' })
})

it('others keep their name and the lines they come from; what is no error becomes one', () => {
  const error = new RangeError('too far')
  expect(cross(error)).toMatchObject({ name: 'RangeError', message: 'too far', stack: error.stack })
  expect(cross('just text')).toMatchObject({ message: 'just text' })
})
