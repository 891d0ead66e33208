import { availableParallelism, cpus, freemem, totalmem } from 'node:os'
import { bytes } from '../../base/bytes.js'
import { type CgroupLimits, cgroupLimits } from './cgroup.js'
import type { Check } from './check.js'
import { type CpuInfo, parseCpuInfo, parseMemInfo, parseSysctl, vectorUnitsOf } from './cpu.js'
import type { Host } from './host.js'

/** Processor, vector units and memory, as much of them as this process may use. */
export async function checkHardware(host: Host): Promise<Check[]> {
  const [cpu, limits, memory] = await Promise.all([readCpu(host), cgroupLimits(host.read), readMemory(host)])
  return [
    describeCores(cpu, availableParallelism(), limits),
    describeVectorUnits(cpu, host.arch),
    describeMemory(memory, limits),
  ]
}

async function readCpu(host: Host): Promise<CpuInfo> {
  const known = cpus()
  const fallback: CpuInfo = {
    model: known[0]?.model,
    logical: known.length,
    vectorUnits: host.arch === 'arm64' ? vectorUnitsOf(['neon']) : [],
  }
  if (host.platform === 'darwin') {
    // some names do not exist on every Mac: sysctl then fails, yet prints the others
    const answer = await host.exec('sysctl', ['hw', 'machdep.cpu'])
    return answer.stdout === '' ? fallback : merge(parseSysctl(answer.stdout), fallback)
  }
  const text = await host.read('/proc/cpuinfo')
  return text === undefined ? fallback : merge(parseCpuInfo(text), fallback)
}

function merge(cpu: CpuInfo, fallback: CpuInfo): CpuInfo {
  const vectorUnits = cpu.vectorUnits.length > 0 ? cpu.vectorUnits : fallback.vectorUnits
  return { ...cpu, model: cpu.model ?? fallback.model, logical: cpu.logical || fallback.logical, vectorUnits }
}

/** `allowed`: logical cores this process may be scheduled on. */
export function describeCores(cpu: CpuInfo, allowed: number, limits: CgroupLimits): Check {
  const usable = Math.max(1, Math.floor(Math.min(allowed, limits.cpus ?? allowed)))
  const counts = [cpu.physical ? `${cpu.physical} physical` : '', `${cpu.logical} logical cores`].filter(Boolean)
  const found = [cpu.model ?? 'unknown model', counts.join(', ')]
  if (usable < cpu.logical) {
    const limit =
      limits.cpus !== undefined && limits.cpus < allowed ? `limit of ${round(limits.cpus)} CPUs` : 'affinity'
    found.push(`${usable} usable (${limit})`)
  }
  const data = {
    model: cpu.model ?? null,
    physical: cpu.physical ?? null,
    logical: cpu.logical,
    quota: limits.cpus ?? null,
    usable,
  }
  return { id: 'cpu', section: 'cpu', name: 'processor', status: 'ok', required: false, found: found.join(', '), data }
}

export function describeVectorUnits(cpu: CpuInfo, arch: string): Check {
  const units = cpu.vectorUnits
  const base = {
    id: 'vector',
    section: 'cpu',
    name: 'vector units',
    required: false,
    found: units.join(', ') || 'none known',
    data: { units },
  } as const
  const fast = arch === 'arm64' ? units.includes('NEON') : units.includes('AVX2') && units.includes('FMA')
  if (fast) return { ...base, status: 'ok' }
  const fix = 'the embedded engine is slow here; use a processor with AVX2 and FMA (x86, since 2013) or NEON (ARM)'
  return { ...base, status: 'warning', fix }
}

export interface Memory {
  readonly total: number
  readonly available: number
}

async function readMemory(host: Host): Promise<Memory> {
  const info = parseMemInfo((host.platform === 'linux' && (await host.read('/proc/meminfo'))) || '')
  return { total: info.total ?? totalmem(), available: info.available ?? freemem() }
}

/** Below this a run of the smallest example does not fit. */
const MEMORY_WANTED = 1e9

export function describeMemory(machine: Memory, limits: CgroupLimits): Check {
  const limit = limits.memoryBytes ?? Number.POSITIVE_INFINITY
  const total = Math.min(machine.total, limit)
  const available = Math.max(0, Math.min(machine.available, limit - (limits.memoryUsedBytes ?? 0)))
  const base = {
    id: 'memory',
    section: 'cpu',
    name: 'memory',
    required: false,
    found: `${bytes(available)} available of ${bytes(total)}${limit < machine.total ? ` (limit; the machine has ${bytes(machine.total)})` : ''}`,
    data: { totalBytes: total, availableBytes: available, machineBytes: machine.total },
  } as const
  if (available >= MEMORY_WANTED) return { ...base, status: 'ok' }
  return {
    ...base,
    status: 'warning',
    fix: `free some memory or raise the limit: at least ${bytes(MEMORY_WANTED)} is needed`,
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
