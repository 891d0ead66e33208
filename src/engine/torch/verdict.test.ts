import { describe, expect, it } from 'vitest'
import type { Check, Json, Status } from '../../machine/doctor/check.js'
import { native } from '../native/description.js'
import { verdict } from './verdict.js'

const check = (id: string, status: Status = 'ok', data: { [key: string]: Json } = {}): Check => ({
  id,
  section: 'runtime',
  name: id,
  status,
  required: id === 'addon',
  found: status,
  data,
})
const python = [check('python'), check('python.transformers')]
const gpu = check('cuda.0')

describe('whether the torch engine can run', () => {
  it('on the CPU with a CPU build, which leaves a card idle', () => {
    const packages = [...python, check('python.torch', 'ok', { cuda: null })]
    expect(verdict(packages)).toMatchObject({ ready: true, why: 'on the CPU: there is no CUDA device' })
    expect(verdict([gpu, ...packages])).toMatchObject({ ready: true, fix: expect.stringContaining('CUDA build') })
  })
  it('on a card with a CUDA build', () => {
    expect(verdict([gpu, ...python, check('python.torch', 'ok', { cuda: '13.0' })])).toMatchObject({
      ready: true,
      why: 'on 1 CUDA device',
    })
  })
  it('not where torch cannot be imported; with a word where it does not see the card', () => {
    const torch = (...more: Check[]) => verdict([...python, check('python.torch', 'ok', { cuda: '13.0' }), ...more])
    expect(torch(check('python.worker', 'wrong'))).toMatchObject({ ready: false })
    expect(torch(gpu, check('python.worker', 'ok', { cudaDevices: 0 })).why).toBe('torch sees no CUDA device')
    expect(torch(gpu, check('python.worker', 'ok', { cudaDevices: 1 })).why).toBe('on 1 CUDA device')
  })
  it('not without its packages, or with those of a Python that cannot be used', () => {
    expect(verdict([check('python')])).toMatchObject({ ready: false, fix: 'trinity setup torch' })
    expect(verdict([check('python', 'wrong')])).toMatchObject({
      ready: false,
      why: 'needs Python, torch, transformers',
    })
  })
})

describe('whether the native engine can run', () => {
  it('with nothing but the addon', () => {
    expect(native.verdict?.([check('addon')])).toMatchObject({ ready: true })
    expect(native.verdict?.([check('addon', 'wrong')])).toMatchObject({ ready: false, why: 'addon: wrong' })
  })
})
