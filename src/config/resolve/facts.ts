import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cudaDevices } from '../../python/gpus.js'

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
    gpus: cudaDevices(),
    torch: false,
    isEmptyDir: (path) => !existsSync(path) || readdirSync(path).length === 0,
    readText: (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined),
    ...given,
  }
}
