import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { hasTorch } from '../../machine/python/environment.js'
import { cudaDevices } from '../../machine/python/gpus.js'
import { pythonHaving } from '../../machine/python/having.js'
import { nodeGpus } from '../../machine/ray/node-gpus.js'

/** What derived values depend on outside the file. Injected, so that resolving is a pure function. */
export interface Facts {
  readonly cwd: string
  readonly now: Date
  /** GPUs of this machine. */
  readonly gpus: number
  /** GPUs of each node of the Ray that `cluster.ray_address` means; undefined: there is none. */
  nodeGpus(address: string): readonly number[] | undefined
  /** Whether there is a Python with PyTorch. */
  readonly pytorch: boolean
  /** Whether there is a Python with this package. */
  hasPackage(module: string): boolean
  isEmptyDir(path: string): boolean
  readText(path: string): string | undefined
}

/** The facts about this machine that a configuration leaves open; those given win. */
export function machineFacts(given: Partial<Facts> = {}): Facts {
  const gpus = given.gpus ?? cudaDevices()
  let pytorch: boolean | undefined
  return {
    cwd: process.cwd(),
    now: new Date(),
    gpus,
    nodeGpus: (address) => nodeGpus(address),
    // asked for only where it matters: it may start a Python
    get pytorch() {
      pytorch ??= hasTorch()
      return pytorch
    },
    hasPackage: (module) => pythonHaving(module) !== undefined,
    isEmptyDir: (path) => !existsSync(path) || readdirSync(path).length === 0,
    readText: (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined),
    ...given,
  }
}
