import { existsSync } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import type { ProjectFile } from './project.js'

/** Writes the files of a project. Nothing is overwritten: where one of them is there, none is written. */
export async function writeProject(dir: string, files: readonly ProjectFile[], packageRoot: string): Promise<void> {
  const there = files.filter(({ path }) => existsSync(join(dir, path))).map(({ path }) => path)
  if (there.length > 0) {
    throw new TrinityError('init/exists', `${dir} has ${there.join(', ')} already`, {
      path: dir,
      hint: 'name another folder; nothing was written',
    })
  }
  await mkdir(dir, { recursive: true })
  for (const file of files) {
    const target = join(dir, file.path)
    if ('text' in file) await writeFile(target, file.text)
    else await cp(join(packageRoot, file.from), target, { recursive: true })
  }
}
