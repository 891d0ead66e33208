import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { isBuiltIn } from '../../environment/alfworld/builtin/known.js'
import { readGameFile } from '../../environment/alfworld/source.js'
import type { DataRow } from '../../task/index.js'
import { rowsOf } from '../given.js'

/** Games of one split, by name in alphabetical order. */
export interface Games {
  readonly names: readonly string[]
  /** The row that names the file of a game; undefined: there are no files, only the games themselves. */
  readonly fileRow?: (name: string) => DataRow
  /** Rows with the games themselves, of these names and in their order. */
  rows(names: readonly string[]): AsyncIterable<DataRow>
}

/** The games of a split in ALFWorld's own folder, or in one of files that hold whole games. */
export async function gamesOf(folder: string, split: string): Promise<Games> {
  const root = await rootOf(folder)
  if (existsSync(join(root, split))) return ofFiles(join(root, split))
  const file = ['jsonl', 'jsonl.gz']
    .map((ending) => join(folder, `${split}.${ending}`))
    .find((path) => existsSync(path))
  if (file) return ofRows(file)
  throw new TrinityError('data/not-found', `there are no games '${split}' of ALFWorld in ${folder}`, {
    path: folder,
    hint: 'fetch them with: pip install alfworld && alfworld-download; then give their folder with --from or as ALFWORLD_DATA',
  })
}

/** `json_2.1.1` or another version below the folder, or the folder itself. */
async function rootOf(folder: string): Promise<string> {
  const names = await readdir(folder).catch(() => [])
  const versions = names.filter((name) => /^json_\d+(\.\d+)*$/.test(name)).sort()
  return join(folder, versions.at(-1) ?? '')
}

async function ofFiles(folder: string): Promise<Games> {
  const files = await readdir(folder, { recursive: true })
  const suffix = /[\\/]game\.tw-pddl$/
  const names = files.filter((file) => suffix.test(file)).map((file) => file.replace(suffix, '').replaceAll('\\', '/'))
  const fileOf = (name: string) => resolve(folder, name, 'game.tw-pddl')
  return {
    names: names.sort(),
    fileRow: (name) => ({ game_file: fileOf(name), target: '' }),
    async *rows(wanted) {
      for (const name of wanted) yield compactRow(name, await readGameFile(fileOf(name)))
    },
  }
}

/** Of the logic only what is not built in: it would be the same in thousands of rows. */
function compactRow(name: string, { task, walkthrough, problem, logic }: Awaited<ReturnType<typeof readGameFile>>) {
  return {
    id: name,
    task_type: name.split('-', 1)[0],
    task,
    walkthrough: walkthrough ?? null,
    pddl_problem: problem,
    ...(!isBuiltIn(logic) && { pddl_domain: logic.domain, grammar: logic.grammar }),
  }
}

async function ofRows(file: string): Promise<Games> {
  // The file itself: in its folder `valid_train` would count as training data too.
  const scan = () => rowsOf('alfworld', { path: file, splits: ['train'] })
  const names: string[] = []
  for await (const { id } of scan()) names.push(String(id))
  return {
    names: names.sort(),
    async *rows(wanted) {
      const all = new Map<string, DataRow | undefined>(wanted.map((name) => [name, undefined]))
      for await (const row of scan()) if (all.has(String(row.id))) all.set(String(row.id), row)
      for (const name of wanted) yield all.get(name) as DataRow
    },
  }
}
