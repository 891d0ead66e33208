import { open, readFile, stat } from 'node:fs/promises'
import { messageOf, TrinityError } from '../../base/error.js'
import type { Copy } from './compressed.js'
import { parseJson } from './exact-json.js'
import { JsonListSource } from './json-list.js'
import { JsonlSource } from './jsonl.js'
import { type DataRow, ListSource, type RowSource } from './row-source.js'
import { recordText } from './utf8.js'

/** V8's longest string: a JSON document is parsed as one, unless it is a list. */
const LARGEST = 0x1fffffe8

/**
 * A `.json` file: a list of objects, or an object with the list under `data`. Many `.json` files of the field hold
 * JSON lines instead; those are read as such.
 */
export async function openJson(path: string, copy?: Copy, largest = LARGEST): Promise<RowSource> {
  const onDisk = copy?.path ?? path
  const { size } = await stat(onDisk)
  if (size > largest && (await beginsAs(onDisk, '['))) return JsonListSource.open(path, copy)
  if (await looksLikeLines(onDisk)) return JsonlSource.open(path, copy)
  if (size > largest) {
    throw new TrinityError('data/too-large', `${path} is one JSON document of ${(size / 1e9).toFixed(1)} GB`, {
      path,
      hint: 'turn it into JSON lines, which are read piece by piece: jq -c ".[]" file.json > file.jsonl',
    })
  }
  const text = await recordText(await readFile(onDisk), async () => path)
  let value: unknown
  try {
    value = parseJson(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new TrinityError('data/malformed', `not valid JSON: ${messageOf(error)}`, { path, cause: error })
  }
  const list = Array.isArray(value) ? value : (value as { data?: unknown } | null)?.data
  if (!Array.isArray(list)) {
    throw new TrinityError('data/malformed', 'a JSON data file must be a list of objects', {
      path,
      hint: 'write [{…}, {…}], or {"data": [{…}, {…}]}, or one object per line',
    })
  }
  const odd = list.findIndex((row) => row === null || typeof row !== 'object' || Array.isArray(row))
  if (odd >= 0) throw new TrinityError('data/malformed', `row ${odd} is not an object`, { path })
  await copy?.release()
  return new ListSource(list as DataRow[], path)
}

async function beginsAs(path: string, sign: string): Promise<boolean> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0)
    return buffer
      .toString('utf8', 0, bytesRead)
      .replace(/^\uFEFF/, '')
      .trimStart()
      .startsWith(sign)
  } finally {
    await handle.close()
  }
}

/** JSON lines: the first line is an object by itself, and either more follows or it holds no `data` list. */
async function looksLikeLines(path: string): Promise<boolean> {
  const source = await JsonlSource.open(path)
  try {
    if (source.length === 0) return false
    const first = await source.row(0)
    return source.length > 1 || !Array.isArray(first.data)
  } catch {
    return false
  } finally {
    await source.close()
  }
}
