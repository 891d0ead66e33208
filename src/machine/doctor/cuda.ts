import { bytes } from '../../base/bytes.js'
import type { Check } from './check.js'
import type { Host } from './host.js'

export interface CudaDevice {
  readonly index: number
  readonly uuid: string
  readonly name: string
  readonly memoryBytes?: number
  readonly freeBytes?: number
  readonly driver: string
  readonly computeCapability?: string
}

const FIELDS = ['index', 'uuid', 'name', 'memory.total', 'memory.free', 'driver_version', 'compute_cap'] as const

/** Reads the CSV that `nvidia-smi --query-gpu` gives for FIELDS; drivers older than 2021 leave out the last one. */
export function parseNvidiaSmi(csv: string): CudaDevice[] {
  return csv.split('\n').flatMap((line) => {
    const cells = line.split(',').map((cell) => cell.trim())
    if (cells.length < FIELDS.length - 1 || !/^\d+$/.test(cells[0])) return []
    const [index, uuid, name, total, free, driver, capability] = cells
    return {
      index: Number(index),
      uuid,
      name,
      memoryBytes: mebibytes(total),
      freeBytes: mebibytes(free),
      driver,
      computeCapability: /^\d+\.\d+$/.test(capability ?? '') ? capability : undefined,
    }
  })
}

/** Cards that share memory with the host answer "[N/A]". */
function mebibytes(cell: string): number | undefined {
  return /^\d+$/.test(cell) ? Number(cell) * 2 ** 20 : undefined
}

/** What CUDA_VISIBLE_DEVICES leaves: indices or beginnings of UUIDs; everything after the first unknown one is hidden. */
export function visibleDevices(devices: readonly CudaDevice[], variable: string | undefined): CudaDevice[] {
  if (variable === undefined) return [...devices]
  const visible: CudaDevice[] = []
  for (const entry of variable.split(',').map((text) => text.trim())) {
    const match = devices.filter((device) =>
      /^\d+$/.test(entry)
        ? device.index === Number(entry)
        : /^GPU-/.test(entry) && device.uuid.toLowerCase().startsWith(entry.toLowerCase()),
    )
    if (match.length !== 1) break
    visible.push(match[0])
  }
  return visible
}

export interface CudaProbe {
  readonly devices: readonly CudaDevice[]
  readonly visible: readonly CudaDevice[]
  /** Why there are none. */
  readonly failure?: 'missing' | 'timeout' | string
}

/** Not always on PATH: Windows' Linux and some container hosts mount it elsewhere. */
const PROGRAMS = ['nvidia-smi', '/usr/lib/wsl/lib/nvidia-smi', '/usr/local/nvidia/bin/nvidia-smi']

export async function findCuda(host: Pick<Host, 'env' | 'exec'>): Promise<CudaProbe> {
  const none = { devices: [], visible: [] }
  for (const program of PROGRAMS) {
    for (const fields of [FIELDS, FIELDS.slice(0, -1)]) {
      const args = [`--query-gpu=${fields.join(',')}`, '--format=csv,noheader,nounits']
      const answer = await host.exec(program, args, { timeoutMs: 10_000 })
      if (answer.status === 'missing') break
      if (answer.status === 'timeout') return { ...none, failure: 'timeout' }
      const text = `${answer.stdout}${answer.stderr}`
      if (/not a valid field/i.test(text)) continue
      if (answer.status === 'failed') return { ...none, failure: firstLine(text) || 'nvidia-smi failed' }
      const devices = parseNvidiaSmi(answer.stdout)
      if (devices.length === 0) return { ...none, failure: firstLine(text) || 'no devices were found' }
      return { devices, visible: visibleDevices(devices, host.env.CUDA_VISIBLE_DEVICES) }
    }
  }
  return { ...none, failure: 'missing' }
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0].trim().slice(0, 200)
}

export function describeCuda(probe: CudaProbe): Check[] {
  const base = { id: 'cuda', section: 'cuda', name: 'CUDA devices', required: false } as const
  if (probe.failure === 'missing') {
    const fix =
      'on a machine with an NVIDIA card, install its driver; without one the embedded engine trains on the CPU'
    return [{ ...base, status: 'missing', found: 'nvidia-smi not found', fix }]
  }
  if (probe.failure !== undefined) {
    const found = probe.failure === 'timeout' ? 'nvidia-smi did not respond in time' : probe.failure
    return [
      { ...base, status: 'wrong', found, fix: 'run nvidia-smi and repair the NVIDIA driver (a restart often helps)' },
    ]
  }
  const { devices, visible } = probe
  const data = { devices: devices.length, visible: visible.length, driver: devices[0].driver }
  const hidden = devices.length - visible.length
  const found = `${visible.length}, driver ${data.driver}${hidden > 0 ? `; CUDA_VISIBLE_DEVICES hides ${hidden}` : ''}`
  const head: Check =
    visible.length > 0
      ? { ...base, status: 'ok', found, data }
      : { ...base, status: 'warning', found, data, fix: 'unset CUDA_VISIBLE_DEVICES, or name devices that exist' }
  return [head, ...visible.map(describeDevice)]
}

function describeDevice(device: CudaDevice): Check {
  const memory = device.memoryBytes === undefined ? 'memory unknown' : bytes(device.memoryBytes)
  const free = device.freeBytes === undefined ? '' : ` (${bytes(device.freeBytes)} free)`
  const capability = device.computeCapability ? `, compute capability ${device.computeCapability}` : ''
  return {
    id: `cuda.${device.index}`,
    section: 'cuda',
    name: `GPU ${device.index}`,
    status: 'ok',
    required: false,
    found: `${device.name}, ${memory}${free}${capability}`,
    data: {
      index: device.index,
      uuid: device.uuid,
      name: device.name,
      memoryBytes: device.memoryBytes ?? null,
      freeBytes: device.freeBytes ?? null,
      driver: device.driver,
      computeCapability: device.computeCapability ?? null,
    },
  }
}
