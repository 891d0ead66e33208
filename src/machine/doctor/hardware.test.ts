import { describe, expect, it } from 'vitest'
import { fakeHost } from '../../../test/fake-host.js'
import { checkHardware, describeCores, describeMemory, describeVectorUnits } from './hardware.js'

const cpu = { model: 'X', logical: 16, physical: 8, vectorUnits: ['AVX2', 'FMA'] }
const GIB = 2 ** 30

describe('describeCores', () => {
  it('says how many this process may use, and why', () => {
    expect(describeCores(cpu, 16, {})).toMatchObject({ found: 'X, 8 physical, 16 logical cores', data: { usable: 16 } })
    expect(describeCores(cpu, 16, { cpus: 2.5 })).toMatchObject({ data: { usable: 2, quota: 2.5 } })
    expect(describeCores(cpu, 16, { cpus: 2.5 }).found).toContain('2 usable (limit of 2.5 CPUs)')
    expect(describeCores(cpu, 4, {}).found).toContain('4 usable (affinity)')
    expect(describeCores(cpu, 4, { cpus: 0.2 }).data?.usable).toBe(1)
  })
})

describe('describeVectorUnits', () => {
  it('wants AVX2 with FMA, or NEON', () => {
    expect(describeVectorUnits(cpu, 'x64').status).toBe('ok')
    expect(describeVectorUnits({ ...cpu, vectorUnits: ['AVX'] }, 'x64').status).toBe('warning')
    expect(describeVectorUnits({ ...cpu, vectorUnits: ['NEON'] }, 'arm64').status).toBe('ok')
  })
})

describe('describeMemory', () => {
  it('takes the smaller of machine and limit', () => {
    const machine = { total: 64 * GIB, available: 60 * GIB }
    expect(describeMemory(machine, {}).data).toMatchObject({ totalBytes: 64 * GIB, availableBytes: 60 * GIB })
    const limited = describeMemory(machine, { memoryBytes: 8 * GIB, memoryUsedBytes: 3 * GIB })
    expect(limited.data).toMatchObject({ totalBytes: 8 * GIB, availableBytes: 5 * GIB, machineBytes: 64 * GIB })
    expect(limited.found).toBe('5.0 GiB available of 8.0 GiB (limit; the machine has 64.0 GiB)')
  })
  it('warns when little is left', () => {
    const full = { memoryBytes: 4 * GIB, memoryUsedBytes: 5 * GIB }
    expect(describeMemory({ total: 64 * GIB, available: 60 * GIB }, full)).toMatchObject({
      status: 'warning',
      data: { availableBytes: 0 },
    })
  })
})

describe('checkHardware', () => {
  it('puts the files of a machine together', async () => {
    const files = {
      '/proc/cpuinfo': 'processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: avx avx2 fma\n\n',
      '/proc/meminfo': 'MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n',
    }
    const [cores, vector, memory] = await checkHardware(fakeHost({ files }))
    expect(cores.found).toContain('Some CPU')
    expect(vector.data?.units).toEqual(['AVX', 'AVX2', 'FMA'])
    expect(memory.data).toMatchObject({ totalBytes: 8 * GIB, availableBytes: 4 * GIB })
  })
  it('asks sysctl on macOS and takes what it prints though it fails', async () => {
    const stdout = 'machdep.cpu.brand_string: Apple M2\nhw.logicalcpu: 8\nhw.physicalcpu: 8\nhw.optional.neon: 1\n'
    const host = fakeHost({ platform: 'darwin', arch: 'arm64', programs: { sysctl: { status: 'failed', stdout } } })
    const [cores, vector] = await checkHardware(host)
    expect(cores.data).toMatchObject({ model: 'Apple M2', physical: 8, logical: 8 })
    expect(vector.status).toBe('ok')
  })
})
