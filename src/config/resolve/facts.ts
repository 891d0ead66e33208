import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** What derived values depend on outside the file. Injected, so that resolving is a pure function. */
export interface Facts {
  readonly cwd: string
  readonly now: Date
  /** GPUs of this machine, and whether PyTorch workers can run on them. */
  readonly gpus: number
  readonly torch: boolean
  isEmptyDir(path: string): boolean
  readText(path: string): string | undefined
}

export function machineFacts(given: Partial<Facts> = {}): Facts {
  return {
    cwd: process.cwd(),
    now: new Date(),
    gpus: visibleGpus(process.env),
    torch: false,
    isEmptyDir: (path) => !existsSync(path) || readdirSync(path).length === 0,
    readText: (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined),
    ...given,
  }
}

/** Counts devices without starting anything: the device files of the driver, cut down by CUDA_VISIBLE_DEVICES. */
function visibleGpus(env: NodeJS.ProcessEnv): number {
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
