import {
  isRecent,
  OLDEST,
  PYTHON_PACKAGES,
  type PythonInfo,
  type PythonPackage,
  type PythonProbe,
} from '../python/find.js'
import { belowFloor, FLOORS } from '../python/floors.js'
import type { Check, Json } from './check.js'

export function describePython(probe: PythonProbe): Check[] {
  const base = { id: 'python', section: 'python', name: 'Python', required: false } as const
  const fix = `install Python ${OLDEST.join('.')} or newer, then: trinity setup torch (or set TRINITY_PYTHON)`
  const { source, info, failure } = probe
  if (!source) return [{ ...base, status: 'missing', found: 'no python3 on PATH', fix }]
  if (!info) {
    const why = failure?.status === 'timeout' ? 'did not respond in time' : 'cannot be run'
    return [{ ...base, status: 'wrong', found: `python from ${source.from} ${why}`, fix }]
  }
  const found = `${info.version} from ${source.from}: ${info.executable}`
  const data = { version: info.version, executable: info.executable, source: source.from }
  if (!isRecent(info.version)) return [{ ...base, status: 'wrong', found: `${found} is too old`, fix, data }]
  const useful = PYTHON_PACKAGES.filter((name) => isUseful(name, info))
  const packages = useful.map((name) => describePackage(name, info, source.command))
  return [{ ...base, status: 'ok', found, data }, ...packages]
}

/** Packages that nothing here needs are worth a line only where they are. `tensorboard` shows what a run has written. */
const NEEDED: readonly PythonPackage[] = ['torch', 'transformers', 'tensorboard']

function isUseful(name: PythonPackage, { packages, torchCuda }: PythonInfo): boolean {
  if (name === 'nvidia-cudnn-frontend') return torchCuda !== undefined
  return NEEDED.includes(name) || packages[name] !== undefined
}

function describePackage(name: PythonPackage, info: PythonInfo, command: string): Check {
  const version = info.packages[name]
  const base = { id: `python.${name}`, section: 'python', name, required: false } as const
  if (version === undefined) {
    const fix = Object.hasOwn(FLOORS, name) ? 'trinity setup torch' : `${command} -m pip install ${name}`
    return { ...base, status: 'missing', found: 'not installed', fix }
  }
  if (belowFloor(name, version)) {
    const floor = FLOORS[name].join('.')
    const fix = `trinity setup torch, or ${command} -m pip install '${name}>=${floor}'`
    return { ...base, status: 'wrong', found: `${version}; the torch engine needs ${floor}`, fix, data: { version } }
  }
  if (name !== 'torch') return { ...base, status: 'ok', found: version, data: { version } }
  const data: { [key: string]: Json } = { version, cuda: info.torchCuda ?? null }
  return {
    ...base,
    status: 'ok',
    found: `${version} (${info.torchCuda ? `CUDA ${info.torchCuda}` : 'CPU only'})`,
    data,
  }
}
