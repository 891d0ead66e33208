import { readdirSync } from 'node:fs'

/** Counts CUDA devices without starting anything: the driver's device files, cut down by CUDA_VISIBLE_DEVICES. */
export function cudaDevices(env: Readonly<Record<string, string | undefined>> = process.env): number {
  let files: string[] = []
  try {
    files = readdirSync('/dev').filter((name) => /^nvidia\d+$/.test(name))
  } catch {
    return 0
  }
  const visible = env.CUDA_VISIBLE_DEVICES
  if (visible === undefined) return files.length
  const asked = visible.split(',').filter((id) => id.trim() !== '' && !id.trim().startsWith('-')).length
  return Math.min(files.length, asked)
}
