import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { TrinityError } from '../../../base/error.js'

/** The files of a catalogue. */
export interface CatalogueFiles {
  readonly products: string
  /** Attributes and synthetic instructions. */
  readonly attributes?: string
  /** Instructions by people. */
  readonly human?: string
}

/** What `trinity data webshop` makes of the files. */
export const CATALOGUE = 'webshop.db'

/** Files up to this size, or so many products, are read whenever a process needs them: a few seconds. */
export const SMALL_BYTES = 64 << 20
export const SMALL_PRODUCTS = 10_000

/** As the original and its offspring call them; the largest first. */
const SIZES = ['', '_100000', '_1000', '_100']

/** Where the original's data come from. */
export const DOWNLOADS = `pip install gdown, then
  gdown 1EgHdxQ_YxqIQlvvq5iKlCrkEKR6-j0Ib  # items_shuffle_1000.json, 1,000 products
  gdown 1IduG0xl544V_A_jv3tHXC0kyFi7PnyBu  # items_ins_v2_1000.json, their attributes
  gdown 1A2whVgOO0euk5O13n2iYDM0bQRkkRduB  # or all: items_shuffle.json, 5.2 GB
  gdown 1s2j6NgHljiZzQNL3veZaAiyW_qDEgBNi  # items_ins_v2.json, 178 MB
  gdown 14Kb5SPBk_jfdLZ_CDBNitW98QLDlKR5O  # items_human_ins.json, instructions by people`

/** The files in a folder, or below its `data`, or beside a file of products. */
export async function findFiles(data: string, products: number | null): Promise<CatalogueFiles> {
  const given = await stat(data).catch(() => undefined)
  const folders = given?.isFile() ? [dirname(data)] : [data, join(data, 'data')]
  const sizes = products === null ? SIZES : [`_${products}`, ...SIZES]
  const shelves = sizes.flatMap((size) => [`items_shuffle${size}.json`, `documents${size}.jsonl`])
  const shelf = given?.isFile() ? data : await firstOf(folders, shelves)
  if (!shelf) {
    throw new TrinityError('environment/data', `there are no products of WebShop in ${data}`, {
      path: data,
      hint: `it should hold items_shuffle.json, items_shuffle_1000.json or documents_1000.jsonl: ${DOWNLOADS}`,
    })
  }
  // The attributes of all products serve for a part of them too.
  const size = /_\d+(?=\.)/.exec(basename(shelf))?.[0] ?? ''
  const attributes = [size, ...SIZES].map((one) => `items_ins_v2${one}.json`)
  return {
    products: shelf,
    attributes: await firstOf(folders, attributes),
    human: await firstOf(folders, ['items_human_ins.json']),
  }
}

/** How the files are known again, without reading them. */
export async function fingerprint(files: CatalogueFiles, products: number | null): Promise<string> {
  const known = []
  for (const path of [files.products, files.attributes, files.human]) {
    if (!path) continue
    const { size, mtimeMs } = await stat(path)
    known.push({ file: basename(path), size, modified: Math.floor(mtimeMs) })
  }
  return JSON.stringify({ files: known, products })
}

export async function firstOf(folders: readonly string[], names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, name)
      if ((await stat(path).catch(() => undefined))?.isFile()) return path
    }
  }
  return undefined
}
