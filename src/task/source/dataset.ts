import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, posix, resolve } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { reading } from '../../base/file/system-error.js'
import { nearest } from '../../base/nearest.js'
import { asRepoHint, looksLikeRepoId, openRepo, type Repo } from '../../hub/index.js'
import { ConcatSource, SliceSource } from './combine.js'
import { globMatcher } from './glob.js'
import { type FileTree, findSplits, type Splits } from './layout.js'
import { dataFileKind, openDataFile } from './open-file.js'
import type { RowSource } from './row-source.js'
import { parseSplit, type SplitTerm, sliceOf } from './split.js'

const CONVERTED = 'refs/convert/parquet'

/** Which rows of which data set. */
export interface DatasetSpec {
  /** A file, a directory, or the id of a data set on a hub. */
  path: string
  subset_name?: string | null
  /** Default `train`. */
  split?: string | null
}

/**
 * The rows of a data set. An empty one is an error: it is never what was meant.
 * @example
 * import { openDataset } from 'trinity-rft/data'
 *
 * const rows = await openDataset({ path: 'data/gsm8k', split: 'test[:10]' })
 * for await (const row of rows.scan()) console.log(row.question)
 */
export async function openDataset(spec: DatasetSpec): Promise<RowSource> {
  const terms = parseSplit(spec.split || 'train')
  const source = await openTerms(spec, terms)
  if (source.length > 0) return source
  await source.close()
  throw new TrinityError('data/empty', `the data set '${spec.path}' has no rows in '${spec.split || 'train'}'`, {
    path: spec.path,
    hint: 'check the path, the split and its slice',
  })
}

async function openTerms(spec: DatasetSpec, terms: SplitTerm[]): Promise<RowSource> {
  const kind = await stat(spec.path).catch(() => undefined)
  // A user who names one file means that file; of the split only a slice can matter.
  if (kind?.isFile()) return openParts(terms, () => [spec.path])
  if (kind?.isDirectory()) {
    const tree = await localTree(spec.path)
    const splits = await findSplits(tree, spec.subset_name)
    return openParts(terms, ({ name }) => filesOf(tree, splits, name).map((file) => join(spec.path, file)))
  }
  if (kind) {
    throw new TrinityError('data/unsupported', `'${spec.path}' is not a regular file`, {
      path: resolve(spec.path),
      hint: 'rows are read by position, which a pipe cannot offer: write them to a file first, such as tasks.jsonl',
    })
  }
  const matching = await filesOfGlob(spec.path)
  if (matching.length > 0) return openParts(terms, () => matching)
  // nobody calls a repository tasks.jsonl
  if (looksLikeRepoId(spec.path) && !dataFileKind(spec.path)) return openFromHub(spec, terms)
  throw new TrinityError('data/not-found', `there is no data set at '${spec.path}'`, {
    path: resolve(spec.path),
    hint: `${await neighbors(spec.path)}${asRepoHint(spec.path)}`,
  })
}

/** Only the files of the wanted splits are downloaded. */
async function openFromHub(spec: DatasetSpec, terms: SplitTerm[]): Promise<RowSource> {
  const { repo, converted } = await findRepo(spec.path)
  const splits = converted ? convertedSplits(repo, spec.subset_name) : await findSplits(repo, spec.subset_name)
  const dir = await repo.download(terms.flatMap(({ name }) => filesOf(repo, splits, name)))
  return openParts(terms, ({ name }) => filesOf(repo, splits, name).map((file) => join(dir, file)))
}

/** Data sets made by a script have no data files; Hugging Face keeps a copy of them, converted to Parquet. */
async function findRepo(id: string): Promise<{ repo: Repo; converted: boolean }> {
  let repo: Repo
  try {
    repo = await openRepo('dataset', id)
  } catch (error) {
    // Of a converted data set nothing but the converted branch is in the cache.
    if (!(error instanceof TrinityError) || error.code !== 'hub/offline') throw error
    const copy = await openRepo('dataset', id, { revision: CONVERTED }).catch(() => undefined)
    if (!copy) throw error
    return { repo: copy, converted: true }
  }
  const copy = repo.files.some(dataFileKind) ? undefined : await repo.atRevision(CONVERTED)
  return { repo: copy ?? repo, converted: copy !== undefined }
}

/** The converted branch holds `<subset>/<split>/0000.parquet`. */
function convertedSplits(tree: FileTree, subset?: string | null): Splits {
  const splits: Splits = new Map()
  const subsets = [
    ...new Set(tree.files.filter((file) => file.split('/').length === 3).map((file) => file.split('/')[0])),
  ]
  const chosen = subset ?? (subsets.length === 1 ? subsets[0] : 'default')
  for (const file of [...tree.files].sort()) {
    const [folder, split, name] = file.split('/')
    if (folder === chosen && name?.endsWith('.parquet')) splits.set(split, [...(splits.get(split) ?? []), file])
  }
  if (splits.size > 0) return splits
  throw new TrinityError('data/subset', `${tree.name} has no subset '${chosen}'`, {
    path: 'subset_name',
    hint: `found: ${subsets.join(', ')}`,
  })
}

async function openParts(terms: SplitTerm[], files: (term: SplitTerm) => string[]): Promise<RowSource> {
  const parts: RowSource[] = []
  try {
    for (const term of terms) {
      const opened: RowSource[] = []
      for (const file of files(term)) {
        const source = await openDataFile(file)
        parts.push(source)
        opened.push(source)
      }
      parts.splice(parts.length - opened.length, opened.length, sliced(term, opened))
    }
    return parts.length === 1 ? parts[0] : new ConcatSource(parts)
  } catch (error) {
    await Promise.all(parts.map((part) => part.close()))
    throw error
  }
}

function sliced(term: SplitTerm, sources: RowSource[]): RowSource {
  const whole = sources.length === 1 ? sources[0] : new ConcatSource(sources)
  const { start, end } = sliceOf(term, whole.length)
  return start === 0 && end === whole.length ? whole : new SliceSource(whole, start, end)
}

function filesOf(tree: FileTree, splits: Splits, split: string): string[] {
  const exact = splits.get(split)
  if (exact) return exact
  // `split: math500` also finds math500.jsonl.
  const named = tree.files.filter((file) => posix.basename(file).split('.')[0] === split)
  if (named.length === 1) return named
  if (splits.size === 0) {
    throw new TrinityError('data/empty', `no data files found in ${tree.name}`, {
      path: tree.name,
      hint: 'expected .jsonl, .json, .csv, .tsv, .parquet or .arrow files',
    })
  }
  const near = nearest(split, splits.keys())
  throw new TrinityError('data/split', `${tree.name} has no split '${split}'`, {
    path: 'split',
    hint: `${near ? `did you mean '${near}'? ` : ''}found: ${[...splits.keys()].join(', ')}`,
  })
}

async function localTree(dir: string): Promise<FileTree> {
  const files = await reading(filesBelow(dir, '', []), dir, 'data/unreadable')
  return { name: `'${dir}'`, files: files.sort(), text: (path) => readFile(join(dir, path), 'utf8') }
}

/** Links are followed (the cache of the hub is made of them), but not in circles. */
async function filesBelow(dir: string, prefix: string, above: readonly string[]): Promise<string[]> {
  const real = await realpath(join(dir, prefix))
  if (above.includes(real)) return []
  const entries = await readdir(join(dir, prefix), { withFileTypes: true })
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = prefix + entry.name
      const kind = entry.isSymbolicLink() ? await stat(join(dir, path)).catch(() => undefined) : entry
      if (kind?.isDirectory()) return filesBelow(dir, `${path}/`, [...above, real])
      return kind?.isFile() ? [path] : []
    }),
  )
  return found.flat()
}

/** The files that a path with `*`, `?`, `[…]` or `{…}` stands for. */
async function filesOfGlob(path: string): Promise<string[]> {
  const parts = path.split('/')
  const first = parts.findIndex((part) => /[*?[{]/.test(part))
  if (first < 0) return []
  const dir = parts.slice(0, first).join('/') || (path.startsWith('/') ? '/' : '.')
  if (!(await stat(dir).catch(() => undefined))?.isDirectory()) return []
  const matches = globMatcher(parts.slice(first).join('/'))
  const { files } = await localTree(dir)
  return files.filter(matches).map((file) => join(dir, file))
}

async function neighbors(path: string): Promise<string> {
  const parent = resolve(path, '..')
  const names = await readdir(parent).catch(() => undefined)
  if (!names) return `the directory '${parent}' does not exist either`
  const name = posix.basename(path)
  // a link to nothing is there as well
  const near = nearest(
    name,
    names.filter((one) => one !== name),
  )
  return near
    ? `did you mean '${join(parent, near)}'?`
    : `'${parent}' holds ${names.slice(0, 8).join(', ') || 'nothing'}`
}
