import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { reading } from '../../base/file/system-error.js'
import { readLevel, readLevels } from '../../environment/sokoban/level.js'

export interface BoxobanSplit {
  readonly split: 'train' | 'valid' | 'test'
  /** `000.txt`, `001.txt`, … */
  readonly files: readonly string[]
}

/** The files of levels in a folder: those of `train`, `valid` and `test` below it; or its own, to test with. */
export async function boxobanSplits(folder: string): Promise<BoxobanSplit[]> {
  const splits: BoxobanSplit[] = []
  for (const split of ['train', 'valid', 'test'] as const) {
    const files = await levelFiles(join(folder, split))
    if (files.length > 0) splits.push({ split, files })
  }
  if (splits.length > 0) return splits
  const files = await levelFiles(folder)
  if (files.length > 0) return [{ split: 'test', files }]
  throw new TrinityError('data/not-found', `there are no levels of Boxoban in ${folder}`, {
    path: folder,
    hint: 'git clone https://github.com/google-deepmind/boxoban-levels; then --from boxoban-levels/unfiltered (or medium, or hard)',
  })
}

async function levelFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .map((name) => join(folder, name))
}

/** All levels of these files, each with the file and the number that it has there. */
export async function* boxobanRows(files: readonly string[]): AsyncIterable<{ level: string; id: string }> {
  for (const file of files) {
    const levels = readLevels(await reading(readFile(file, 'utf8'), file))
    for (const [number, level] of levels.entries()) {
      const id = `${file.split(/[\\/]/).slice(-2).join('/')}#${number}`
      yield { level: checked(level, `${file}: level ${number}`), id }
    }
  }
}

function checked(level: string, where: string): string {
  try {
    readLevel(level)
    return level
  } catch (error) {
    const { code, message, hint } = error as TrinityError
    throw new TrinityError(code, `${where}: ${message}`, { path: where, hint })
  }
}
