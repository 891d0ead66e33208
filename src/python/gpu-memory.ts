import { execLocal } from './exec.js'

export interface Gpu {
  readonly name: string
  /** Of all its memory. */
  readonly bytes: number
}

const QUERY = ['--query-gpu=index,uuid,name,memory.total', '--format=csv,noheader,nounits']

/** The GPUs that may be used, as the driver's own tool describes them; empty where it is not there or finds none. */
export async function gpuMemory(
  env: Readonly<Record<string, string | undefined>> = process.env,
  exec: typeof execLocal = execLocal,
): Promise<Gpu[]> {
  const { status, stdout } = await exec('nvidia-smi', QUERY)
  if (status !== 'ok') return []
  const all = stdout.split('\n').flatMap((line) => {
    const [index, uuid, name, mebibytes] = line.split(',').map((part) => part.trim())
    const size = Number(mebibytes)
    return size > 0 ? [{ index, uuid, name, bytes: size * 2 ** 20 }] : []
  })
  const visible = env.CUDA_VISIBLE_DEVICES?.split(',').map((id) => id.trim())
  const seen = visible
    ? visible.flatMap((id) => all.filter(({ index, uuid }) => id === index || (id !== '' && uuid.startsWith(id))))
    : all
  return seen.map(({ name, bytes }) => ({ name, bytes }))
}
