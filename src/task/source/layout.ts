import { z } from 'zod'
import { messageOf, TrinityError } from '../../base/error.js'
import { parseJsonText } from '../../base/json-text.js'
import { nearest } from '../../base/nearest.js'
import { type CardSubset, readDataCard } from './data-card.js'
import { globMatcher } from './glob.js'
import { type DataFormat, dataFileKind } from './open-file.js'

/** A directory or a repository as a list of relative paths with `/`, and a way to read its small text files. */
export interface FileTree {
  /** How it is called in messages. */
  name: string
  files: readonly string[]
  text(path: string): Promise<string>
}

/** split → data files in order, all of one format. */
export type Splits = Map<string, string[]>

const SPLIT_WORDS: readonly [split: string, words: readonly string[]][] = [
  ['train', ['train', 'training']],
  ['validation', ['validation', 'valid', 'dev', 'val']],
  ['test', ['test', 'testing', 'eval', 'evaluation']],
]
const SHARD = /(?:^|\/)([\w.]+?)-\d{5}-of-\d{5}(?:-[0-9a-f]+)?\.\w+$/

/**
 * Which files make up which split of a data set, by the conventions of Hugging Face: what `save_to_disk` writes, the
 * `configs` of a data card, shards `train-00000-of-00002.parquet`, or words such as `train` and `test` in the names.
 */
export async function findSplits(tree: FileTree, subset?: string | null): Promise<Splits> {
  const saved = await savedToDisk(tree)
  if (saved) return saved
  const card = await readCard(tree)
  if (card.length > 0) {
    const chosen = chooseSubset(tree, card, subset)
    if (chosen?.splits) return cardSplits(tree, chosen)
    if (chosen?.dir !== undefined) return splitsByName(below(tree.files, chosen.dir), tree)
  }
  if (subset) {
    const inside = below(tree.files, subset).filter(dataFileKind)
    if (inside.length === 0) throw unknownSubset(tree, subset, card)
    return splitsByName(inside, tree)
  }
  return splitsByName(tree.files, tree)
}

/** Name of a file or a folder in the data set itself. */
const name = z
  .string()
  .regex(/^[^/\\\0]+$/, 'expected a name without a path')
  .refine((text) => !/^\.+$/.test(text))
const DATASET_DICT = z.looseObject({ splits: z.array(name).default([]) })
const STATE = z.looseObject({
  _data_files: z.array(z.looseObject({ filename: name })).default([]),
  _split: z.string().nullish(),
})

/** `dataset_dict.json` with one directory per split, or `state.json` with one data set. */
async function savedToDisk(tree: FileTree): Promise<Splits | undefined> {
  if (tree.files.includes('dataset_dict.json')) {
    const { splits } = await json(tree, 'dataset_dict.json', DATASET_DICT)
    const found: Splits = new Map()
    for (const split of splits) found.set(split, await arrowFiles(tree, `${split}/`))
    return found
  }
  if (!tree.files.includes('state.json')) return undefined
  const files = await arrowFiles(tree, '')
  return files.length > 0 ? new Map([[await savedSplit(tree), files]]) : undefined
}

async function arrowFiles(tree: FileTree, prefix: string): Promise<string[]> {
  const { _data_files: files } = await json(tree, `${prefix}state.json`, STATE)
  return files.map(({ filename }) => prefix + filename)
}

/** `state.json` names the split the data came from; a data set made in memory has none. */
async function savedSplit(tree: FileTree): Promise<string> {
  const { _split: split } = await json(tree, 'state.json', STATE)
  return split ?? 'train'
}

async function json<S extends z.ZodType>(tree: FileTree, path: string, schema: S): Promise<z.output<S>> {
  try {
    return schema.parse(parseJsonText(await tree.text(path)))
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : []
    const reason = issue ? `'${issue.path.join('.')}': ${issue.message}` : messageOf(error)
    throw new TrinityError('data/malformed', `cannot read ${path} of ${tree.name}: ${reason}`, {
      path: `${tree.name}/${path}`,
      hint: 'save the data set again with save_to_disk',
      cause: error,
    })
  }
}

async function readCard(tree: FileTree): Promise<CardSubset[]> {
  return tree.files.includes('README.md') ? readDataCard(await tree.text('README.md')) : []
}

function chooseSubset(tree: FileTree, card: CardSubset[], subset?: string | null): CardSubset | undefined {
  if (subset) {
    const named = card.find(({ name }) => name === subset)
    if (!named && below(tree.files, subset).length === 0) throw unknownSubset(tree, subset, card)
    return named
  }
  const chosen = card.find(({ isDefault }) => isDefault) ?? (card.length === 1 ? card[0] : undefined)
  if (chosen) return chosen
  throw new TrinityError('data/subset', `${tree.name} has several subsets and none is the default`, {
    path: 'subset_name',
    hint: `set subset_name to one of ${card.map(({ name }) => name).join(', ')}`,
  })
}

function cardSplits(tree: FileTree, subset: CardSubset): Splits {
  const found: Splits = new Map()
  for (const [split, globs] of subset.splits ?? []) {
    const files = globs.flatMap((glob) => {
      const inside = subset.dir ? `${subset.dir}/${glob}` : glob
      const matches = globMatcher(inside.replace(/^\.?\//, ''))
      return tree.files.filter(matches).sort()
    })
    if (files.length > 0) found.set(split, [...new Set(files)])
  }
  return found
}

/** Splits by what the files are called; when no name says anything, everything is `train`. */
function splitsByName(files: readonly string[], tree: FileTree): Splits {
  const data = files
    .filter((file) => !file.split('/').some((part) => part.startsWith('.')) && dataFileKind(file))
    .sort()
  const named: Splits = new Map()
  for (const file of data) {
    const split = SHARD.exec(file)?.[1] ?? splitWord(file)
    if (split) named.set(split, [...(named.get(split) ?? []), file])
  }
  if (named.size === 0 && data.length > 0) named.set('train', data)
  for (const [split, list] of named) named.set(split, oneFormat(list, split, tree))
  return named
}

/** The split a name stands for: `gsm8k-train.jsonl`, `test.parquet`, `dev/part1.csv`. */
function splitWord(file: string): string | undefined {
  const stems = file.split('/').reverse()
  stems[0] = stems[0].slice(0, stems[0].indexOf('.') > 0 ? stems[0].indexOf('.') : undefined)
  for (const stem of stems) {
    const words = stem.toLowerCase().split(/[-._ \d]+/)
    for (const [split, names] of SPLIT_WORDS) if (names.some((name) => words.includes(name))) return split
  }
  return undefined
}

function oneFormat(files: string[], split: string, tree: FileTree): string[] {
  const formats = new Set(files.map((file) => dataFileKind(file)?.format as DataFormat))
  if (formats.size === 1) return files
  throw new TrinityError('data/ambiguous', `the split '${split}' of ${tree.name} exists in several formats`, {
    path: tree.name,
    hint: `name one file as the path: ${files.slice(0, 6).join(', ')}`,
  })
}

function below(files: readonly string[], dir: string): string[] {
  const prefix = `${dir.replace(/^\.?\/|\/$/g, '')}/`
  return files.filter((file) => file.startsWith(prefix))
}

function unknownSubset(tree: FileTree, subset: string, card: CardSubset[]): TrinityError {
  const folders = tree.files
    .filter((file) => file.includes('/') && dataFileKind(file))
    .map((file) => file.split('/')[0])
  const known = [...new Set(card.length > 0 ? card.map(({ name }) => name) : folders)]
  const near = nearest(subset, known)
  return new TrinityError('data/subset', `${tree.name} has no subset '${subset}'`, {
    path: 'subset_name',
    hint:
      known.length > 0
        ? `${near ? `did you mean '${near}'? ` : ''}found: ${known.join(', ')}`
        : 'leave it out: there is only one',
  })
}
