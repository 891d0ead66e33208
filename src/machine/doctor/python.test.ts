import { describe, expect, it } from 'vitest'
import { fakeHost } from '../../../test/fake-host.js'
import { findPython } from '../python/find.js'
import { describePython } from './python.js'

const answer = (version: string, packages = {}, torchCuda: string | null = null) => ({
  stdout: `trinity-doctor ${JSON.stringify({ executable: '/usr/bin/python3', version, packages, torchCuda })}\n`,
})

describe('describePython', () => {
  const look = async (programs: NonNullable<Parameters<typeof fakeHost>[0]>['programs']) =>
    describePython(await findPython(fakeHost({ programs })))

  it('says when there is none, or one that hangs, or one that is too old', async () => {
    expect((await look({}))[0].status).toBe('missing')
    expect((await look({ python3: { status: 'timeout' } }))[0].found).toContain('did not respond in time')
    expect((await look({ python3: answer('3.8.1') }))[0]).toMatchObject({ status: 'wrong', data: { version: '3.8.1' } })
  })
  it('says when the one that was chosen is not there', async () => {
    const host = fakeHost({ env: { TRINITY_PYTHON: '/gone' }, programs: { python3: answer('3.11.7') } })
    expect(describePython(await findPython(host))[0]).toMatchObject({ status: 'wrong' })
  })
  it('gives each package its version, and torch its build', async () => {
    const checks = await look({ python3: answer('3.12.3', { torch: '2.11.0', ray: '2.49.0' }, '13.0') })
    const found = (id: string) => checks.find((check) => check.id === id)
    expect(found('python.torch')).toMatchObject({ status: 'ok', found: '2.11.0 (CUDA 13.0)', data: { cuda: '13.0' } })
    expect(found('python.ray')).toMatchObject({ status: 'ok', found: '2.49.0' })
    expect(found('python.tensorboard')).toMatchObject({ status: 'missing', fix: 'python3 -m pip install tensorboard' })
    // nothing in this version uses them
    for (const name of ['vllm', 'sglang', 'wandb', 'mlflow']) expect(found(`python.${name}`)).toBeUndefined()
    expect(found('python.transformers')).toMatchObject({ status: 'missing', fix: 'trinity setup torch' })
    expect(found('python.nvidia-cudnn-frontend')).toMatchObject({ status: 'missing', fix: 'trinity setup torch' })
  })
  it('asks for no kernels of cuDNN where torch has no CUDA', async () => {
    const checks = await look({ python3: answer('3.12.3', { torch: '2.11.0' }) })
    expect(checks.map(({ id }) => id)).not.toContain('python.nvidia-cudnn-frontend')
  })
  it('refuses releases that the torch engine cannot run with', async () => {
    const checks = await look({ python3: answer('3.12.3', { torch: '2.10.1', transformers: '4.57.0' }) })
    for (const [id, needs] of [
      ['python.torch', '2.11'],
      ['python.transformers', '5.0'],
    ]) {
      const check = checks.find((one) => one.id === id)
      expect(check).toMatchObject({ status: 'wrong', fix: expect.stringContaining('trinity setup torch') })
      expect(check?.found).toContain(needs)
    }
  })
})
