import { join } from 'node:path'
import type { ExecResult } from './exec.js'

/** What looking for Python asks of the machine. */
export interface PythonHost {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
  exec(file: string, args: readonly string[], options?: { timeoutMs?: number }): Promise<ExecResult>
}

export const PYTHON_PACKAGES = [
  'torch',
  'transformers',
  'nvidia-cudnn-frontend',
  'vllm',
  'sglang',
  'ray',
  'wandb',
  'mlflow',
  'tensorboard',
] as const
export type PythonPackage = (typeof PYTHON_PACKAGES)[number]

/** The oldest Python that current PyTorch and vLLM still support. */
export const OLDEST = [3, 10] as const

export interface PythonInfo {
  readonly executable: string
  readonly version: string
  readonly packages: Readonly<Partial<Record<PythonPackage, string>>>
  /** CUDA version torch was built for; undefined: a CPU build, or no torch. */
  readonly torchCuda?: string
}

/**
 * Reads installed metadata, and imports nothing else: importing torch takes seconds. Written for every Python 3.
 * The current folder is taken off the path so that a `json.py` lying there is not run.
 */
const SCRIPT = `
import sys
sys.path[:] = [p for p in sys.path if p]
import json, re
names = ${JSON.stringify(PYTHON_PACKAGES)}
found, cuda = {}, None
try:
    from importlib import metadata
except ImportError:
    metadata = None
for name in names if metadata else []:
    try:
        d = metadata.distribution(name)
        found[name] = d.version
        if name == 'torch':
            with open(str(d.locate_file('torch/version.py'))) as f:
                m = re.search("^cuda\\\\b[^=]*= *'([^']+)'", f.read(), re.M)
            cuda = m.group(1) if m else None
    except Exception:
        pass
print('trinity-doctor ' + json.dumps({'executable': sys.executable, 'version': '%d.%d.%d' % sys.version_info[:3],
    'packages': found, 'torchCuda': cuda}))
`

export function parsePythonAnswer(stdout: string): PythonInfo | undefined {
  // a site customization may print lines of its own
  const line = /^trinity-doctor (\{.*\})\s*$/m.exec(stdout)
  if (!line) return undefined
  try {
    const { executable, version, packages, torchCuda } = JSON.parse(line[1]) as { [key: string]: unknown }
    if (typeof executable !== 'string' || typeof version !== 'string' || !packages) return undefined
    const cuda = typeof torchCuda === 'string' ? torchCuda : undefined
    return { executable, version, packages: packages as PythonInfo['packages'], torchCuda: cuda }
  } catch {
    return undefined
  }
}

const ASK_MS = 15_000

export interface PythonSource {
  readonly command: string
  /** Where the choice comes from, as it reads after "from". */
  readonly from: string
  /** Set by the user, so that a failure is an error and not a reason to look further. */
  readonly chosen: boolean
}

/** In the order they are tried. */
export function pythonSources(host: Pick<PythonHost, 'env' | 'home'>): PythonSource[] {
  const chosen = host.env.TRINITY_PYTHON?.trim()
  if (chosen) return [{ command: chosen, from: 'TRINITY_PYTHON', chosen: true }]
  const folder = join(host.home, '.trinity', 'python')
  return [
    { command: join(folder, 'bin', 'python3'), from: '~/.trinity/python', chosen: false },
    { command: 'python3', from: 'PATH', chosen: false },
    { command: 'python', from: 'PATH', chosen: false },
  ]
}

export interface PythonProbe {
  readonly source?: PythonSource
  readonly info?: PythonInfo
  readonly failure?: ExecResult
}

/** The first interpreter that answers; a chosen one that does not is not replaced by another. */
export async function findPython(host: PythonHost): Promise<PythonProbe> {
  let broken: PythonProbe | undefined
  let plain: PythonProbe | undefined
  for (const source of pythonSources(host)) {
    const failure = await host.exec(source.command, ['-c', SCRIPT], { timeoutMs: ASK_MS })
    const info = failure.status === 'ok' ? parsePythonAnswer(failure.stdout) : undefined
    if (info && isRecent(info.version)) {
      // one of PATH without torch is only taken when no other has it
      if (source.chosen || info.packages.torch !== undefined) return { source, info }
      plain ??= { source, info }
    } else if (info) broken ??= { source, info }
    else if (source.chosen || failure.status !== 'missing') broken ??= { source, failure }
  }
  return plain ?? broken ?? {}
}

/** What one interpreter says of itself; undefined: it cannot be run. */
export async function askPython(exec: PythonHost['exec'], command: string): Promise<PythonInfo | undefined> {
  const answer = await exec(command, ['-c', SCRIPT], { timeoutMs: ASK_MS })
  return answer.status === 'ok' ? parsePythonAnswer(answer.stdout) : undefined
}

export function isRecent(version: string): boolean {
  const [major, minor] = version.split('.').map(Number)
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
}
