import { existsSync } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf, TrinityError } from '../base/error.js'
import { freeFolder } from './folder.js'
import type { ProjectFile } from './project.js'

/** Writes the files of a project. Nothing is overwritten: where one of them is there, none is written. */
export async function writeProject(dir: string, files: readonly ProjectFile[], packageRoot: string): Promise<void> {
  const there = files.filter(({ path }) => existsSync(join(dir, path))).map(({ path }) => path)
  if (there.length > 0) {
    throw new TrinityError('init/exists', `${dir} already has ${there.join(', ')}`, {
      path: dir,
      hint: `nothing was written; choose another folder, such as: trinity init ${freeFolder(process.cwd())}`,
    })
  }
  try {
    await makeFolder(dir)
    for (const file of files) {
      const target = join(dir, file.path)
      if ('text' in file) await writeFile(target, file.text)
      else await cp(join(packageRoot, file.from), target, { recursive: true })
    }
  } catch (cause) {
    const hint = 'choose a folder that you can write to'
    throw new TrinityError('init/folder', `${dir}: ${messageOf(cause)}`, { path: dir, hint, cause })
  }
}

/** With those above it. What Node itself has for that never comes back from a folder like /proc. */
async function makeFolder(dir: string): Promise<void> {
  if (existsSync(dir)) return
  await makeFolder(dirname(dir))
  await mkdir(dir)
}
