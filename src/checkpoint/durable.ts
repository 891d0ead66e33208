import { access, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Every file below `dir`, as paths relative to it, in a fixed order. */
export async function filesBelow(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true })
  const nested = await Promise.all(
    entries.map(async (entry) =>
      entry.isDirectory()
        ? (await filesBelow(join(dir, entry.name))).map((path) => `${entry.name}/${path}`)
        : [entry.name],
    ),
  )
  return nested.flat().sort()
}

/** Puts every file and folder below `dir` on the disk, itself included, so that a later rename cannot overtake them. */
export async function syncTree(dir: string): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) await syncTree(path)
    else await syncPath(path)
  }
  await syncPath(dir)
}

export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } catch (error) {
    // Some file systems cannot sync a folder; its entries are then as durable as they get.
    if (!['EINVAL', 'EPERM', 'EISDIR', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    await handle.close()
  }
}

export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
