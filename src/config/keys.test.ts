import { expect, it } from 'vitest'
import { keysOfConfig } from './keys.js'

it('has every key once, with the words it takes', () => {
  const keys = keysOfConfig()
  expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length)
  const of = (name: string) => keys.find(({ key }) => key === name)?.values
  expect(of('mode')).toContain('both')
  expect(of('buffer.batch_size')).toBeUndefined()
  expect(of('trainer.enable_preview')).toEqual(['true', 'false'])
})
