import { expect, it } from 'vitest'
import type { TrinityError } from '../base/error.js'
import { strays } from './stray.js'
import { tellUnwritable } from './unwritable.js'

it('says which output it is, what the system said and what to do, once', () => {
  const told: TrinityError[] = []
  const untold = strays.tellTo((error) => void told.push(error))
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
  tellUnwritable('standard output', full)
  tellUnwritable('standard output', full)
  untold()
  expect(told).toHaveLength(1)
  expect(told[0]).toMatchObject({
    code: 'output/unwritable',
    message: 'the disk is full: cannot write standard output (ENOSPC: no space left on device, write)',
    hint: expect.stringContaining('the same command resumes'),
  })
})
