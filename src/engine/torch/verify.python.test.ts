import { describe, expect, it } from 'vitest'
import { torchTestPython } from '../../../test/support/python.js'
import { verify } from './verify.js'

const python = torchTestPython()

describe.skipIf(python.absent)(`trying out an environment${python.note}`, () => {
  it('runs a small model and says on what', async () => {
    expect(await verify({ python: python.path, device: 'cpu' })).toMatch(/^torch \d+\.\d+.*transformers \d+.* on cpu/)
  }, 120_000)
})
