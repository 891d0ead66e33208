import { join } from 'node:path'
import { bytes } from '../../base/bytes.js'
import { environmentDir } from '../python/environment.js'
import { FLOORS, requirement } from '../python/floors.js'

/** What `trinity setup torch` was asked for. */
export interface SetupOptions {
  /** Default ~/.trinity/python. */
  readonly dir?: string
  /** The Python that the environment is made of; default python3 of PATH. */
  readonly python?: string
  /** The CPU build of torch. */
  readonly cpu?: boolean
  /** Where packages come from; default as pip is configured (PIP_INDEX_URL, pip.conf). */
  readonly indexUrl?: string
  /** Where torch comes from, if elsewhere. */
  readonly torchIndexUrl?: string
}

/** One call of pip. */
export interface Install {
  readonly what: string
  readonly packages: readonly string[]
  readonly indexUrl?: string
}

export interface SetupPlan {
  readonly dir: string
  readonly python: string
  readonly isDefaultDir: boolean
  readonly cpu: boolean
  readonly installs: readonly Install[]
  /** Bytes, roughly: what is fetched, and what it takes on the disk in the end. */
  readonly download: number
  readonly disk: number
}

/** PyTorch's own index of builds without CUDA; the package index has those for NVIDIA cards. */
const CPU_INDEX = 'https://download.pytorch.org/whl/cpu'
const GB = 1e9
const SIZES = {
  cuda: { download: 2.6 * GB, disk: 6 * GB },
  cpu: { download: 0.25 * GB, disk: 1 * GB },
  rest: { download: 0.06 * GB, disk: 0.3 * GB },
}

export function planSetup(options: SetupOptions, base: { command: string }, home: string): SetupPlan {
  const { cpu = false, indexUrl, torchIndexUrl } = options
  const standard = environmentDir(home)
  const dir = options.dir ?? standard
  const torch = cpu ? SIZES.cpu : SIZES.cuda
  return {
    dir,
    python: base.command,
    isDefaultDir: dir === standard,
    cpu,
    installs: [
      {
        what: cpu ? 'torch, CPU build' : 'torch with CUDA',
        packages: [requirement('torch')],
        indexUrl: torchIndexUrl ?? (cpu ? CPU_INDEX : indexUrl),
      },
      { what: 'transformers', packages: [requirement('transformers')], indexUrl },
      ...(cpu ? [] : [{ what: "cuDNN's attention", packages: [requirement('nvidia-cudnn-frontend')], indexUrl }]),
    ],
    download: torch.download + SIZES.rest.download,
    disk: torch.disk + SIZES.rest.disk,
  }
}

/** The interpreter of the environment. */
export function environmentPython(dir: string): string {
  return join(dir, 'bin', 'python3')
}

export function describePlan(plan: SetupPlan, present: Readonly<Record<string, string>>): string[] {
  const from = (url?: string) => (url === undefined ? '' : ` from ${url}`)
  const lines = [`an environment in ${plan.dir}, made with ${plan.python}`]
  for (const { what, packages, indexUrl } of plan.installs) {
    const name = packages[0].split('>=')[0]
    const have = present[name] === undefined ? '' : `; ${present[name]} is there`
    lines.push(`${what} (${FLOORS[name].join('.')} or newer)${from(indexUrl)}${have}`)
  }
  const rest = plan.installs.every(({ packages }) => present[packages[0].split('>=')[0]] !== undefined)
  if (!rest) lines.push(`about ${bytes(plan.download)} to download, about ${bytes(plan.disk)} on the disk`)
  return lines
}
