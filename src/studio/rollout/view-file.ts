import { statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { lineAt, withFile } from '../run/lines.js'

const NAMES = 'a .db or .jsonl file in the buffer/ folder of a run'
/** Folders below one that was named by mistake. */
const DEPTH = 4
const MOST = 5

/** A file that a person has named, told from a folder and from nothing. */
export async function needFile(path: string, hint = `name ${NAMES}`): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFile()) return
  if (found === undefined) throw new TrinityError('studio/no-file', `there is no file ${path}`, { path, hint })
  const files = (await storesBelow(path)).map((file) => relative(path, file))
  const inside = files.length === 0 ? `name ${NAMES}` : `name a file in it: ${files.slice(0, MOST).join(', ')}`
  throw new TrinityError('studio/no-file', `${path} is a folder, not a file of experiences`, {
    path,
    hint: `${inside}; \`trinity studio ${path}\` shows the runs in a folder`,
  })
}

/** A file with lines of something else would be an empty table. */
export async function needExperiences(path: string): Promise<void> {
  const first = await withFile(path, (file) => lineAt(file, 0))
  // a line may be too long to be read as a whole here
  if (!first || /"tokens"\s*:\s*\[/.test(first)) return
  throw new TrinityError('studio/no-experiences', `the first line of ${path} is no experience`, {
    path,
    hint: `an experience has "tokens"; name ${NAMES}`,
  })
}

async function storesBelow(dir: string, depth = 0): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => [])
  const own = entries.filter((one) => one.isFile() && /\.(db|jsonl)$/.test(one.name)).map(({ name }) => join(dir, name))
  if (depth === DEPTH) return own
  const below = entries.filter((one) => one.isDirectory() && !/^\.|^(node_modules|monitor|log)$/.test(one.name))
  return [...own, ...(await Promise.all(below.map(({ name }) => storesBelow(join(dir, name), depth + 1)))).flat()]
}
