import { existsSync } from 'node:fs'
import { cp, mkdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf, TrinityError } from '../base/error.js'
import { systemError } from '../base/file/system-error.js'
import { freeFolder } from './folder.js'
import type { ProjectFile } from './project.js'

/** Writes the files of a project, all or none. Nothing is overwritten: where one of them is there, none is written. */
export async function writeProject(dir: string, files: readonly ProjectFile[], packageRoot: string): Promise<void> {
  const there = files.filter(({ path }) => existsSync(join(dir, path))).map(({ path }) => path)
  if (there.length > 0) {
    throw new TrinityError('init/exists', `${dir} already has ${there.join(', ')}`, {
      path: dir,
      hint: `nothing was written; choose another folder, such as: trinity init ${freeFolder(process.cwd())}`,
    })
  }
  const folders: string[] = []
  const written: string[] = []
  try {
    await makeFolder(dir, folders)
    for (const file of files) {
      const target = join(dir, file.path)
      written.push(target)
      if ('text' in file) await writeFile(target, file.text)
      else await cp(join(packageRoot, file.from), target, { recursive: true })
    }
  } catch (cause) {
    // so that the same command can be given again
    for (const path of written) await rm(path, { recursive: true, force: true }).catch(() => {})
    for (const path of folders.reverse()) await rmdir(path).catch(() => {})
    throw unwritten(dir, cause)
  }
}

/** With those above it; `made` learns which were not there. What Node itself has for that never comes back from a folder like /proc. */
async function makeFolder(dir: string, made: string[]): Promise<void> {
  if (existsSync(dir)) return
  await makeFolder(dirname(dir), made)
  await mkdir(dir)
  made.push(dir)
}

function unwritten(dir: string, cause: unknown): TrinityError {
  const known = systemError(cause, dir)
  const isFull = /^(ENOSPC|EDQUOT)$/.test((cause as NodeJS.ErrnoException).code ?? '')
  return new TrinityError('init/folder', `${known instanceof TrinityError ? '' : `${dir}: `}${messageOf(known)}`, {
    path: dir,
    hint: isFull
      ? 'nothing was left there; make room, or choose another folder'
      : 'choose a folder that you can write to',
    cause,
  })
}
