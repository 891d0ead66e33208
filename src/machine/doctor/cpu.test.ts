import { describe, expect, it } from 'vitest'
import { parseCpuInfo, parseMemInfo, parseSysctl } from './cpu.js'

const block = (fields: Record<string, string | number>) =>
  Object.entries(fields)
    .map(([key, value]) => `${key}\t: ${value}`)
    .join('\n')

const XEON_FLAGS =
  'fpu vme de pse sse sse2 ht pni ssse3 fma cx16 sse4_1 sse4_2 avx f16c avx2 bmi2 avx512f avx512dq avx512_bf16 amx_bf16 amx_tile amx_int8'
/** Two sockets of two cores with two threads each. */
const XEON = [0, 1, 2, 3, 4, 5, 6, 7]
  .map((processor) =>
    block({
      processor,
      vendor_id: 'GenuineIntel',
      'model name': 'Intel(R) Xeon(R) Platinum 8480+',
      'physical id': Math.floor(processor / 2) % 2,
      siblings: 4,
      'core id': processor % 2,
      'cpu cores': 2,
      flags: XEON_FLAGS,
    }),
  )
  .join('\n\n')

const EPYC = block({
  processor: 0,
  vendor_id: 'AuthenticAMD',
  'model name': 'AMD EPYC 7B13',
  'physical id': 0,
  'core id': 0,
  flags: 'fpu sse sse2 ssse3 fma sse4_1 avx f16c avx2 sha_ni vaes',
})

/** As the kernel writes it on ARM: no name, no core ids, "Features" instead of "flags". */
const GRAVITON = [0, 1]
  .map((processor) =>
    block({
      processor,
      BogoMIPS: '2100.00',
      Features: 'fp asimd evtstrm aes crc32 atomics fphp asimdhp sve asimddp bf16 i8mm sve2',
      'CPU implementer': '0x41',
      'CPU architecture': 8,
      'CPU part': '0xd4f',
    }),
  )
  .join('\n\n')

describe('parseCpuInfo', () => {
  it('counts cores over sockets', () => {
    expect(parseCpuInfo(XEON)).toEqual({
      model: 'Intel(R) Xeon(R) Platinum 8480+',
      logical: 8,
      physical: 4,
      vectorUnits: ['AVX', 'AVX2', 'FMA', 'F16C', 'AVX-512', 'AVX-512 BF16', 'AMX'],
    })
  })
  it('reads AMD', () => {
    expect(parseCpuInfo(`${EPYC}\n\n`)).toMatchObject({ physical: 1, vectorUnits: ['AVX', 'AVX2', 'FMA', 'F16C'] })
  })
  it('reads ARM', () => {
    expect(parseCpuInfo(GRAVITON)).toEqual({
      model: 'Arm Neoverse V2',
      logical: 2,
      physical: undefined,
      vectorUnits: ['NEON', 'SVE', 'SVE2', 'BF16', 'I8MM'],
    })
    expect(parseCpuInfo(GRAVITON.replaceAll('0xd4f', '0xfff')).model).toBe('ARM 0x41/0xfff')
  })
  it('makes nothing of nothing', () => {
    expect(parseCpuInfo('')).toEqual({ model: undefined, logical: 0, physical: undefined, vectorUnits: [] })
  })
})

describe('parseSysctl', () => {
  it('reads Apple silicon', () => {
    const text = `hw.logicalcpu: 10
hw.physicalcpu: 10
hw.optional.neon: 1
hw.optional.arm.FEAT_BF16: 0
hw.optional.arm.FEAT_I8MM: 1
machdep.cpu.brand_string: Apple M1 Max
`
    expect(parseSysctl(text)).toEqual({
      model: 'Apple M1 Max',
      logical: 10,
      physical: 10,
      vectorUnits: ['NEON', 'I8MM'],
    })
  })
  it('reads Intel', () => {
    const text = `hw.logicalcpu: 16
hw.physicalcpu: 8
machdep.cpu.brand_string: Intel(R) Core(TM) i9-9880H CPU @ 2.30GHz
machdep.cpu.features: FPU VME SSE SSE2 SSE4.2 FMA AVX1.0 F16C
machdep.cpu.leaf7_features: RDWRFSGS BMI1 AVX2 BMI2
`
    expect(parseSysctl(text)).toMatchObject({ physical: 8, logical: 16, vectorUnits: ['AVX', 'AVX2', 'FMA', 'F16C'] })
  })
})

describe('parseMemInfo', () => {
  it('reads total and available', () => {
    const text = 'MemTotal:       131980916 kB\nMemFree:        130730032 kB\nMemAvailable:   131504236 kB\n'
    expect(parseMemInfo(text)).toEqual({ total: 131980916 * 1024, available: 131504236 * 1024 })
    expect(parseMemInfo('')).toEqual({})
  })
})
