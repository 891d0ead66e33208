import { describe, expect, it } from 'vitest'
import { torchTestPython } from '../../../test/support/python.js'
import { localHost } from './host.js'
import { checkTorchWorker } from './torch.js'

const both = { torch: '2.13.0', transformers: '5.1.0' }
const python = torchTestPython()
describe.skipIf(python.absent)(`a real environment${python.note}`, () => {
  it('can be imported', async () => {
    const [check] = await checkTorchWorker(localHost(), {
      source: { command: python.path, from: 'PATH', chosen: false },
      info: { executable: python.path, version: '3.12.0', packages: both },
    })
    expect(check).toMatchObject({ status: 'ok', data: { version: expect.stringMatching(/^\d/) } })
  }, 90_000)
})
