import { describe, expect, it } from 'vitest'
import { fakeHost } from '../../../test/fake-host.js'
import type { PythonProbe } from '../python/find.js'
import { checkTorchWorker } from './torch.js'

const probe = (packages: Record<string, string>, command = 'python3'): PythonProbe => ({
  source: { command, from: 'PATH', chosen: false },
  info: { executable: command, version: '3.12.0', packages },
})
const both = { torch: '2.13.0', transformers: '5.1.0' }

describe('checkTorchWorker', () => {
  const look = async (answer: object) =>
    (await checkTorchWorker(fakeHost({ programs: { python3: answer } }), probe(both)))[0]

  it('has nothing to say without the packages', async () => {
    expect(await checkTorchWorker(fakeHost(), probe({ torch: '2.13.0' }))).toEqual([])
    expect(await checkTorchWorker(fakeHost(), {})).toEqual([])
  })
  it('says how many devices torch sees', async () => {
    expect(await look({ stdout: 'a warning\ntrinity-doctor 0.1.0 2\n' })).toMatchObject({
      status: 'ok',
      found: expect.stringContaining('2 CUDA devices'),
      data: { cudaDevices: 2 },
    })
  })
  it('says why it cannot be imported', async () => {
    const stderr = 'Traceback\nImportError: libcudart.so.13: cannot open shared object file\n'
    expect(await look({ status: 'failed', stderr })).toMatchObject({
      status: 'wrong',
      found: expect.stringContaining('libcudart.so.13'),
      fix: 'trinity setup torch',
    })
    expect((await look({ status: 'timeout' })).found).toContain('in time')
  })
})
