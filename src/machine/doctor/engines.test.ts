import { describe, expect, it } from 'vitest'
import type { Check, Json, Status } from './check.js'
import { currentVerdicts, verdicts } from './engines.js'

const check = (id: string, status: Status = 'ok', data: { [key: string]: Json } = {}): Check => ({
  id,
  section: 'runtime',
  name: id,
  status,
  required: id === 'addon',
  found: status,
  data,
})
const ready = (...checks: Check[]) =>
  verdicts(checks)
    .filter((verdict) => verdict.ready)
    .map((verdict) => verdict.engine)

const addon = check('addon')
const python = [check('python'), check('python.transformers')]
const gpu = check('cuda.0')

describe('verdicts', () => {
  it('native needs only the addon', () => {
    expect(ready(addon)).toEqual(['native'])
    expect(ready(check('addon', 'missing'))).toEqual([])
    expect(verdicts([check('addon', 'wrong')])[0].why).toBe('addon: wrong')
  })
  it('torch runs on the CPU, vllm does not', () => {
    const packages = [...python, check('python.torch', 'ok', { cuda: null }), check('python.vllm')]
    expect(ready(addon, ...packages)).toEqual(['native', 'torch'])
    expect(ready(addon, gpu, ...packages)).toEqual(['native', 'torch'])
    expect(verdicts([gpu, ...packages]).find((verdict) => verdict.engine === 'torch')?.fix).toContain('CUDA build')
  })
  it('with a CUDA build and a card both run', () => {
    const packages = [...python, check('python.torch', 'ok', { cuda: '13.0' }), check('python.vllm')]
    expect(ready(addon, gpu, ...packages)).toEqual(['native', 'torch', 'vllm'])
  })
  it('torch that cannot be imported, or does not see the card, is told', () => {
    const packages = [...python, check('python.torch', 'ok', { cuda: '13.0' })]
    const torch = (...more: Check[]) => verdicts([...packages, ...more]).find((verdict) => verdict.engine === 'torch')
    expect(torch(check('python.worker', 'wrong'))).toMatchObject({ ready: false })
    expect(torch(gpu, check('python.worker', 'ok', { cudaDevices: 0 }))?.why).toBe('torch sees no CUDA device')
    expect(torch(gpu, check('python.worker', 'ok', { cudaDevices: 1 }))?.why).toBe('on 1 CUDA device')
    expect(verdicts([check('python')]).find((verdict) => verdict.engine === 'torch')?.fix).toBe('trinity setup torch')
  })
  it('packages of a Python that cannot be used do not count', () => {
    expect(verdicts([check('python', 'wrong')])[1]).toMatchObject({
      ready: false,
      why: 'needs Python, torch, transformers',
    })
  })
  it('services need a key', () => {
    expect(ready(check('env.TINKER_API_KEY'), check('env.OPENAI_BASE_URL'))).toEqual(['native', 'tinker', 'openai'])
    expect(ready(addon, check('env.TINKER_API_KEY', 'wrong'))).toEqual(['native'])
  })
  it('an engine that this version does not have is never ready', () => {
    const all = [addon, check('env.TINKER_API_KEY')]
    expect(currentVerdicts(all, (engine) => engine === 'native').filter((verdict) => verdict.ready)).toHaveLength(1)
    expect(currentVerdicts(all, () => false).map((verdict) => verdict.why)).toContain('not part of this version')
  })
})
