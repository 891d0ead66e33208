import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { datasets, Place, type PlacedFile } from '../../src/dataset/index.js'
import { tempDir } from './temp-dir.js'

/** A data set that was made with these arguments. */
export interface MadeData {
  readonly folder: string
  readonly files: readonly PlacedFile[]
  /** What was said on the way. */
  readonly said: readonly string[]
  rows(file: string): Record<string, unknown>[]
  yaml: string
}

/** What `trinity data NAME` makes, in a new folder or in a given one. */
export async function makeData(name: string, given: Record<string, unknown>, folder?: string): Promise<MadeData> {
  const entry = datasets.get(name)
  const args = datasets.parse(name, given, 'args')
  const said: string[] = []
  const tell = (text: string) => void said.push(text)
  const logger = { debug: () => {}, info: tell, warn: tell, error: tell }
  const place = await Place.open(folder ?? join(await tempDir(), name), { ...entry, name, args }, { logger })
  await entry.prepare(args as never, place)
  return {
    folder: place.folder,
    files: place.files,
    said,
    rows: (file) => {
      const lines = readFileSync(join(place.folder, file), 'utf8').trimEnd().split('\n')
      return lines.map((line) => JSON.parse(line))
    },
    yaml: entry.yaml(args as never, place.folder),
  }
}
