import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { bytes } from '../../base/bytes.js'
import { TrinityError } from '../../base/error.js'
import { makeFolder } from '../../base/file/make-folder.js'
import { execLocal } from '../python/exec.js'
import { askPython, isRecent, OLDEST, type PythonInfo } from '../python/find.js'
import { belowFloor } from '../python/floors.js'
import { runCommand } from './command.js'
import { setupFailure } from './failure.js'
import { environmentPython, type Install, type SetupPlan } from './plan.js'

export type Tell = (line: string) => void

/** The Python that an environment can be made of. */
export async function basePython(named?: string): Promise<{ command: string; info: PythonInfo }> {
  const tried = named === undefined ? ['python3', 'python'] : [named]
  let old: PythonInfo | undefined
  for (const command of tried) {
    const info = await askPython(execLocal, command)
    if (info && isRecent(info.version)) return { command, info }
    old ??= info
  }
  const floor = OLDEST.join('.')
  const found = old ? `${old.executable} is Python ${old.version}` : `${tried.join(' and ')} cannot be run`
  throw new TrinityError('setup/python', `Python ${floor} or newer is needed: ${found}`, {
    hint: `install Python ${floor} to 3.13 (Debian, Ubuntu: apt install python3 python3-venv), or name one with --python`,
  })
}

/** What the environment already has of what is needed, by package. */
export async function installed(dir: string): Promise<Record<string, string>> {
  const info = await askPython(execLocal, environmentPython(dir))
  const fits = Object.entries(info?.packages ?? {}).filter(([name, version]) => !belowFloor(name, version))
  return Object.fromEntries(fits)
}

/** Makes the environment or completes what an earlier attempt has begun. */
export async function install(plan: SetupPlan, tell: Tell): Promise<void> {
  const python = environmentPython(plan.dir)
  const present = await installed(plan.dir)
  const missing = plan.installs.filter(({ packages }) => present[packages[0].split('>=')[0]] === undefined)
  if (missing.length === 0) {
    tell('everything is already there')
    return
  }
  await checkSpace(plan)
  if ((await askPython(execLocal, python)) === undefined) {
    tell(`making ${plan.dir}`)
    await makeFolder(dirname(plan.dir))
    // --clear: what an interrupted attempt has left is not worth keeping
    const made = await runCommand(plan.python, ['-m', 'venv', '--clear', plan.dir], tell)
    if (made.code !== 0) throw setupFailure('venv', made, plan.dir)
  }
  for (const one of missing) {
    tell(`installing ${one.what}`)
    const ended = await runCommand(
      python,
      pipArgs(one),
      (line) => isProgress(line) && tell(`  ${line.trim().slice(0, 110)}`),
      pipEnv(),
    )
    if (ended.code !== 0) throw setupFailure('pip', ended, plan.dir)
  }
}

function pipArgs({ packages, indexUrl }: Install): string[] {
  const index = indexUrl === undefined ? [] : ['--index-url', indexUrl]
  return ['-m', 'pip', 'install', '--progress-bar', 'off', '--disable-pip-version-check', ...index, ...packages]
}

/** A large download that breaks is continued by the releases of pip that can. */
function pipEnv(): NodeJS.ProcessEnv {
  return { PIP_RETRIES: '5', PIP_RESUME_RETRIES: '10', ...process.env, PIP_NO_INPUT: '1', PIP_USER: '0' }
}

function isProgress(line: string): boolean {
  return /^\s*(Downloading|Using cached|Installing|Successfully|ERROR)/.test(line)
}

async function checkSpace({ dir, disk }: SetupPlan): Promise<void> {
  let folder = dir
  for (;;) {
    try {
      const { bavail, bsize } = await statfs(folder)
      if (bavail * bsize >= disk) return
      throw new TrinityError('setup/disk', `${bytes(bavail * bsize)} is free, about ${bytes(disk)} is needed`, {
        path: folder,
        hint: 'free some space, or name another place with --dir',
      })
    } catch (error) {
      if (error instanceof TrinityError || dirname(folder) === folder) throw error
      folder = dirname(folder)
    }
  }
}
