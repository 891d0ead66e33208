import type { PythonProbe } from '../python/find.js'
import { PYTHON_ROOT } from '../python/package.js'
import type { Check } from './check.js'
import type { Host } from './host.js'

/** Imports what a worker imports, so that a package that is installed and broken is found here. Takes seconds. */
const SCRIPT = `
import sys
sys.path[:] = [${JSON.stringify(PYTHON_ROOT)}] + [p for p in sys.path if p]
import torch, transformers, trinity_torch.wire.server
print('trinity-doctor', trinity_torch.__version__, torch.cuda.device_count())
`

/** Whether workers of the torch engine can be started, and how many CUDA devices torch sees. */
export async function checkTorchWorker(host: Host, { source, info }: PythonProbe): Promise<Check[]> {
  if (!source || !info?.packages.torch || !info.packages.transformers) return []
  const base = { id: 'python.worker', section: 'python', name: 'torch worker', required: false } as const
  const answer = await host.exec(source.command, ['-c', SCRIPT], { timeoutMs: 60_000 })
  const said = /^trinity-doctor (\S+) (\d+)\s*$/m.exec(answer.stdout)
  if (said) {
    const devices = Number(said[2])
    const sees = `torch sees ${devices === 0 ? 'no' : devices} CUDA device${devices === 1 ? '' : 's'}`
    const data = { version: said[1], cudaDevices: devices }
    return [{ ...base, status: 'ok', found: `trinity_torch ${said[1]} can be imported, ${sees}`, data }]
  }
  const line = answer.stderr.trim().split('\n').at(-1)?.trim().slice(0, 200)
  const found =
    answer.status === 'timeout' ? 'did not respond in time' : `cannot be imported: ${line || 'no reason given'}`
  return [{ ...base, status: 'wrong', found, fix: 'trinity setup torch' }]
}
