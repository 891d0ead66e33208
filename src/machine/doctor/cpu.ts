/** What processor this is: pure readers of what Linux and macOS say about it. */

export interface CpuInfo {
  readonly model?: string
  readonly logical: number
  readonly physical?: number
  /** Names as people know them: AVX2, FMA, AVX-512, NEON. */
  readonly vectorUnits: readonly string[]
}

/** Flag (as the kernel or sysctl spells it, in lower case) → name. */
const VECTOR_UNITS: readonly (readonly [name: string, ...flags: string[]])[] = [
  ['AVX', 'avx', 'avx1.0'],
  ['AVX2', 'avx2'],
  ['FMA', 'fma'],
  ['F16C', 'f16c'],
  ['AVX-512', 'avx512f'],
  ['AVX-512 BF16', 'avx512_bf16', 'avx512bf16'],
  ['AMX', 'amx_tile', 'amx-tile'],
  ['NEON', 'asimd', 'neon', 'hw.optional.neon', 'hw.optional.advsimd'],
  ['SVE', 'sve'],
  ['SVE2', 'sve2'],
  ['BF16', 'bf16', 'hw.optional.arm.feat_bf16'],
  ['I8MM', 'i8mm', 'hw.optional.arm.feat_i8mm'],
]

export function vectorUnitsOf(flags: Iterable<string>): string[] {
  const present = new Set(flags)
  return VECTOR_UNITS.filter(([, ...names]) => names.some((name) => present.has(name))).map(([name]) => name)
}

/** Part numbers of server cores, for kernels that give no name. */
const ARM_PARTS: Readonly<Record<string, string>> = {
  '0x41/0xd08': 'Arm Cortex-A72',
  '0x41/0xd0c': 'Arm Neoverse N1',
  '0x41/0xd40': 'Arm Neoverse V1',
  '0x41/0xd49': 'Arm Neoverse N2',
  '0x41/0xd4f': 'Arm Neoverse V2',
  '0xc0/0xac3': 'Ampere-1',
}

/** Reads /proc/cpuinfo of x86 and of ARM. */
export function parseCpuInfo(text: string): CpuInfo {
  const cores = new Set<string>()
  let logical = 0
  let first: ReadonlyMap<string, string> | undefined
  for (const block of text.split(/\n\s*\n/)) {
    const fields = new Map<string, string>()
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':')
      if (colon > 0) fields.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim())
    }
    if (!fields.has('processor')) continue
    logical++
    first ??= fields
    const core = fields.get('core id')
    if (core !== undefined) cores.add(`${fields.get('physical id') ?? 0}/${core}`)
  }
  const part = `${first?.get('CPU implementer')}/${first?.get('CPU part')}`
  const model = first?.get('model name') || ARM_PARTS[part] || (first?.has('CPU part') ? `ARM ${part}` : undefined)
  const flags = (first?.get('flags') ?? first?.get('Features') ?? '').toLowerCase().split(/\s+/)
  return { model, logical, physical: cores.size > 0 ? cores.size : undefined, vectorUnits: vectorUnitsOf(flags) }
}

/** Reads `sysctl hw machdep.cpu` of macOS, on Intel and on Apple silicon. */
export function parseSysctl(text: string): CpuInfo {
  const fields = new Map<string, string>()
  for (const line of text.split('\n')) {
    const match = /^([\w.]+)(?: =|:) ?(.*)$/.exec(line)
    if (match) fields.set(match[1], match[2])
  }
  const flags = ['machdep.cpu.features', 'machdep.cpu.leaf7_features']
    .flatMap((key) => (fields.get(key) ?? '').split(/\s+/))
    .concat([...fields].filter(([key, value]) => key.startsWith('hw.optional.') && value === '1').map(([key]) => key))
    .map((flag) => flag.toLowerCase())
  return {
    model: fields.get('machdep.cpu.brand_string'),
    logical: Number(fields.get('hw.logicalcpu') ?? 0),
    physical: Number(fields.get('hw.physicalcpu')) || undefined,
    vectorUnits: vectorUnitsOf(flags),
  }
}

/** Reads the two lines of /proc/meminfo that matter, as bytes. */
export function parseMemInfo(text: string): { total?: number; available?: number } {
  const bytes = (key: string) => {
    const match = new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(text)
    return match ? Number(match[1]) * 1024 : undefined
  }
  return { total: bytes('MemTotal'), available: bytes('MemAvailable') }
}
