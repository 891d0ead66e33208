import { describe, expect, it } from 'vitest'
import { fakeHost } from '../../../test/fake-host.js'
import { describeCuda, findCuda, parseNvidiaSmi, visibleDevices } from './cuda.js'

/** Recorded on a machine with one H200. */
const H200 = '0, GPU-0a5699d7-791c-63f9-2939-0d775ec7c854, NVIDIA H200, 143771, 143156, 580.159.04, 9.0\n'
/** A driver that does not know compute_cap, with two cards. */
const OLD = `0, GPU-aaaa1111, Tesla V100-SXM2-16GB, 16160, 16157, 418.87.00
1, GPU-bbbb2222, Tesla V100-SXM2-16GB, 16160, 1, 418.87.00
`
/** Memory shared with the host. */
const SHARED = '0, GPU-cccc3333, NVIDIA GB10, [N/A], [N/A], 580.95.05, 12.1\n'

describe('parseNvidiaSmi', () => {
  it('reads a card', () => {
    expect(parseNvidiaSmi(H200)).toEqual([
      {
        index: 0,
        uuid: 'GPU-0a5699d7-791c-63f9-2939-0d775ec7c854',
        name: 'NVIDIA H200',
        memoryBytes: 143771 * 2 ** 20,
        freeBytes: 143156 * 2 ** 20,
        driver: '580.159.04',
        computeCapability: '9.0',
      },
    ])
  })
  it('reads old drivers and unknown memory', () => {
    expect(parseNvidiaSmi(OLD).map((device) => [device.index, device.computeCapability])).toEqual([
      [0, undefined],
      [1, undefined],
    ])
    expect(parseNvidiaSmi(SHARED)[0]).toMatchObject({ memoryBytes: undefined, computeCapability: '12.1' })
  })
  it('makes nothing of other text', () => {
    expect(parseNvidiaSmi('No devices were found\n')).toEqual([])
    expect(parseNvidiaSmi('')).toEqual([])
  })
})

describe('visibleDevices', () => {
  const two = parseNvidiaSmi(OLD)
  const indices = (variable?: string) => visibleDevices(two, variable).map((device) => device.index)
  it.each([
    [undefined, [0, 1]],
    ['', []],
    ['-1', []],
    ['1', [1]],
    ['1,0', [1, 0]],
    ['0,7,1', [0]],
    ['GPU-bbbb', [1]],
    ['GPU-', []],
    ['NoDevFiles', []],
  ])('%j leaves %j', (variable, left) => expect(indices(variable)).toEqual(left))
})

describe('findCuda', () => {
  const check = async (programs: Parameters<typeof fakeHost>[0]) => describeCuda(await findCuda(fakeHost(programs)))

  it('describes each card', async () => {
    const [head, card] = await check({ programs: { 'nvidia-smi': { stdout: H200 } } })
    expect(head).toMatchObject({ status: 'ok', data: { devices: 1, visible: 1, driver: '580.159.04' } })
    expect(card).toMatchObject({
      id: 'cuda.0',
      found: 'NVIDIA H200, 140 GiB (140 GiB free), compute capability 9.0',
    })
  })
  it('asks again without what an old driver does not know', async () => {
    const smi = (args: readonly string[]) =>
      args.join().includes('compute_cap')
        ? { status: 'failed' as const, stdout: 'Field "compute_cap" is not a valid field to query.\n' }
        : { stdout: OLD }
    expect(await check({ programs: { 'nvidia-smi': smi } })).toHaveLength(3)
  })
  it('finds it where Windows puts it', async () => {
    expect((await check({ programs: { '/usr/lib/wsl/lib/nvidia-smi': { stdout: H200 } } }))[0].status).toBe('ok')
  })
  it('says what hides the cards', async () => {
    const checks = await check({ programs: { 'nvidia-smi': { stdout: OLD } }, env: { CUDA_VISIBLE_DEVICES: '' } })
    expect(checks).toHaveLength(1)
    expect(checks[0]).toMatchObject({ status: 'warning', found: '0, driver 418.87.00; CUDA_VISIBLE_DEVICES hides 2' })
  })
  it('tells no card, a broken driver and a hanging one from each other', async () => {
    expect((await check({}))[0].status).toBe('missing')
    const broken = { status: 'failed' as const, stdout: 'Failed to initialize NVML: Driver/library version mismatch\n' }
    expect((await check({ programs: { 'nvidia-smi': broken } }))[0]).toMatchObject({
      status: 'wrong',
      found: 'Failed to initialize NVML: Driver/library version mismatch',
    })
    expect((await check({ programs: { 'nvidia-smi': { status: 'timeout' } } }))[0].found).toContain('did not respond')
    expect((await check({ programs: { 'nvidia-smi': { stdout: 'No devices were found\n' } } }))[0].status).toBe('wrong')
  })
})
