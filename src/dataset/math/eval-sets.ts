import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { dataFileKind } from '../../task/source/open-file.js'
import type { Given } from '../given.js'

/** One of the eight sets that models are compared with. */
export interface EvalSet {
  readonly name: string
  readonly problems: number
  /** How files of it are called, with the folder that they lie in. */
  readonly files: RegExp
  readonly hub: Given
}

const STUDY = 'weijiezz/math-datasets-100k'

export const evalSets: readonly EvalSet[] = [
  set('dapo', 300, /(^|\/)dapo[\w-]*[/_-]test$/, { path: 'weijiezz/DAPO-Math-17k-split', splits: ['test'] }),
  set('gsm8k', 1319, /(^|\/)(gsm8k([/_-]test)?|test_gsm8k)$/),
  set('math500', 500, /(^|\/)(math-?500([/_-]test)?|test_math500)$/),
  set('aime24', 30, /(^|\/)(aime_?(20)?24([/_-]test)?|test_aime24)$/),
  set('aime25', 30, /(^|\/)(aime_?(20)?25([/_-]test)?|test_aime25)$/),
  set('amc23', 40, /(^|\/)(amc_?(20)?23([/_-]test)?|test_amc23)$/),
  set('minervamath', 272, /(^|\/)(minerva(_?math)?([/_-]test)?|test_minervamath)$/),
  set('olympiadbench', 675, /(^|\/)(olympiad_?bench([/_-]test)?|test_olympiadbench)$/),
]

function set(name: string, problems: number, files: RegExp, hub?: Given): EvalSet {
  return { name, problems, files, hub: hub ?? { path: STUDY, splits: [`test_${name}`] } }
}

/** Folders below a given one that are looked into. */
const DEPTH = 3

/** Data files below the folders, with what they are called without their endings. */
export async function filesBelow(folders: readonly string[]): Promise<{ path: string; stem: string }[]> {
  const found: { path: string; stem: string }[] = []
  for (const folder of folders) await look(folder, folder.split(/[\\/]/).at(-1) ?? '', DEPTH)
  return found

  async function look(folder: string, prefix: string, depth: number): Promise<void> {
    const entries = (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const { name } of entries.filter((entry) => !entry.isDirectory() && dataFileKind(entry.name))) {
      const stem = `${prefix}/${name.toLowerCase().replace(/-\d{5}-of-\d{5}/, '')}`.replace(/(\.\w+)+$/, '')
      found.push({ path: join(folder, name), stem })
    }
    for (const { name } of depth > 0 ? entries.filter((entry) => entry.isDirectory()) : []) {
      if (!name.startsWith('.')) await look(join(folder, name), `${prefix}/${name.toLowerCase()}`, depth - 1)
    }
  }
}
