import type { Host } from '../machine/doctor/host.js'
import type { GpuSample } from './report.js'

const FIELDS = 'index,name,utilization.gpu,memory.used,memory.total'

/** What the GPUs do now; none where nobody says. */
export async function gpuSamples(host: Pick<Host, 'exec'>): Promise<GpuSample[]> {
  const args = [`--query-gpu=${FIELDS}`, '--format=csv,noheader,nounits']
  const answer = await host.exec('nvidia-smi', args, { timeoutMs: 5000 })
  return answer.status === 'ok' ? parseGpus(answer.stdout) : []
}

export function parseGpus(csv: string): GpuSample[] {
  return csv.split('\n').flatMap((line) => {
    const cells = line.split(',').map((cell) => cell.trim())
    const [id, util, used, total] = [cells[0], cells[2], cells[3], cells[4]].map(Number)
    if (cells.length !== 5 || ![id, used, total].every(Number.isFinite)) return []
    // some devices do not say how busy they are: "[N/A]"
    const busy = Number.isFinite(util) ? util : 0
    const memory = { gpu_memory_used_mb: used, gpu_memory_total_mb: total }
    return [{ gpu_id: id, name: cells[1], gpu_util_percent: busy, ...memory }]
  })
}
