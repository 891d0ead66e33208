import { mkdirSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/**
 * Creates a folder and its missing parents. Returns the topmost one that it created, or undefined if the folder was there.
 * Throws the first error of the system. Must be used in place of Node's own recursive `mkdir`, which tries again forever
 * where a file system answers ENOENT for a folder whose parent exists, as `/proc` does: it occupies a thread, and the
 * process cannot end.
 */
export async function makeFolder(path: string): Promise<string | undefined> {
  const folder = resolve(path)
  try {
    await mkdir(folder)
    return folder
  } catch (error) {
    if (await isFolder(folder)) return undefined
    if (!lacksParent(error, folder)) throw error
  }
  const first = await makeFolder(dirname(folder))
  await mkdir(folder).catch(async (error: unknown) => {
    // another process may have been faster
    if (!(await isFolder(folder))) throw error
  })
  return first ?? folder
}

/** As `makeFolder`, blocking. */
export function makeFolderSync(path: string): string | undefined {
  const folder = resolve(path)
  try {
    mkdirSync(folder)
    return folder
  } catch (error) {
    if (isFolderSync(folder)) return undefined
    if (!lacksParent(error, folder)) throw error
  }
  const first = makeFolderSync(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    if (!isFolderSync(folder)) throw error
  }
  return first ?? folder
}

function lacksParent(error: unknown, folder: string): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(folder) !== folder
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  )
}

function isFolderSync(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
