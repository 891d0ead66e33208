import type { Check, EngineVerdict } from '../../machine/doctor/check.js'

/** What the doctor's checks mean for the torch engine. */
export function verdict(checks: readonly Check[]): Omit<EngineVerdict, 'engine'> {
  const byId = new Map(checks.map((check) => [check.id, check]))
  const usable = (id: string) => ['ok', 'warning'].includes(byId.get(id)?.status ?? '')
  const gpus = checks.filter((check) => /^cuda\.\d+$/.test(check.id)).length
  const needs = ['torch', 'transformers']
  const absent = usable('python') ? needs.filter((name) => !usable(`python.${name}`)) : ['Python', ...needs]
  if (absent.length > 0) {
    const fix = usable('python') ? 'trinity setup torch' : undefined
    return { ready: false, why: `needs ${absent.join(', ')}`, fix }
  }
  const worker = byId.get('python.worker')
  if (worker?.status === 'wrong') return { ready: false, why: `${worker.name}: ${worker.found}`, fix: worker.fix }
  if (gpus === 0) return { ready: true, why: 'on the CPU: there is no CUDA device' }
  if (byId.get('python.torch')?.data?.cuda === null) {
    const fix = 'install a CUDA build of torch into that Python (trinity setup torch makes one)'
    return { ready: true, why: 'torch is a CPU build, so it cannot use the CUDA device', fix }
  }
  if (worker?.data?.cudaDevices === 0) {
    const fix = 'install a driver that supports the CUDA version torch was built for'
    return { ready: true, why: 'torch sees no CUDA device', fix }
  }
  return { ready: true, why: `on ${gpus} CUDA device${gpus > 1 ? 's' : ''}` }
}
