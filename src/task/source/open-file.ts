import { basename } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { reading } from '../../base/file/system-error.js'
import { type Copy, decompress } from './compressed.js'
import { CsvSource, separatorOf } from './csv.js'
import { openJson } from './json.js'
import { JsonlSource } from './jsonl.js'
import type { RowSource } from './row-source.js'

/** The formats, by the ending of a file's name. */
export type DataFormat = 'jsonl' | 'json' | 'csv' | 'tsv' | 'parquet' | 'arrow'

const ENDINGS: Record<string, DataFormat> = {
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  json: 'json',
  csv: 'csv',
  tsv: 'tsv',
  parquet: 'parquet',
  arrow: 'arrow',
  feather: 'arrow',
}

/** The formats that are compressed as a whole. */
const TEXT = new Set<DataFormat>(['jsonl', 'json', 'csv', 'tsv'])

/** How to make a file readable that is not, by its ending. */
const CONVERT: Record<string, string> = {
  bz2: 'decompress it first: bunzip2 -k file.jsonl.bz2',
  xz: 'decompress it first: xz -dk file.jsonl.xz',
  zip: 'unpack it first: unzip file.zip',
  txt: "turn each line into a record: jq -R -c '{text: .}' file.txt > file.jsonl",
  xlsx: 'save it as CSV',
}

/** Files that lie in data set directories and hold no rows. */
const NOT_DATA = new Set([
  'dataset.json',
  'dataset_info.json',
  'dataset_infos.json',
  'dataset_dict.json',
  'state.json',
  'configuration.json',
  'metadata.json',
])

export interface DataFileKind {
  format: DataFormat
  compression?: 'gz' | 'zst'
}

/** What kind of data file a name stands for; undefined when it is none. */
export function dataFileKind(path: string): DataFileKind | undefined {
  const name = basename(path)
  if (NOT_DATA.has(name)) return undefined
  const parts = name.toLowerCase().split('.')
  const last = parts.at(-1) ?? ''
  if (last === 'gz' || last === 'zst') {
    const format = parts.length > 2 ? ENDINGS[parts.at(-2) as string] : undefined
    return format && TEXT.has(format) ? { format, compression: last } : undefined
  }
  const format = parts.length > 1 ? ENDINGS[last] : undefined
  return format && { format }
}

export async function openDataFile(path: string): Promise<RowSource> {
  const kind = dataFileKind(path)
  if (!kind) {
    throw new TrinityError('data/unsupported', `cannot tell the format of '${basename(path)}' from its name`, {
      path,
      hint:
        CONVERT[path.split('.').at(-1)?.toLowerCase() ?? ''] ??
        `a data file ends in ${Object.keys(ENDINGS)
          .map((ending) => `.${ending}`)
          .join(', ')}; those of text may be compressed: .gz, .zst`,
    })
  }
  const copy = kind.compression && (await decompress(path, kind.compression))
  try {
    return await reading(openAs(kind.format, path, copy), path, 'data/unreadable')
  } catch (error) {
    await copy?.release()
    throw error
  }
}

async function openAs(format: DataFormat, path: string, copy?: Copy): Promise<RowSource> {
  switch (format) {
    case 'jsonl':
      return JsonlSource.open(path, copy)
    case 'json':
      return openJson(path, copy)
    case 'csv':
      return CsvSource.open(path, await separatorOf(copy?.path ?? path), copy)
    case 'tsv':
      return CsvSource.open(path, '\t', copy)
    // Loaded only when used: together they take a third of a second to import.
    case 'parquet':
      return (await import('./parquet.js')).ParquetSource.open(path)
    case 'arrow':
      return (await import('./arrow.js')).ArrowSource.open(path)
  }
}
