import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { TrinityError } from '../../../base/error.js'
import { reading } from '../../../base/file/system-error.js'
import type { Base } from './protocol.js'

/** What a database in memory may weigh; several are open in each thread. */
const LARGEST = 80 << 20

/** Files that were read, by path: many episodes begin with the same. */
const files = new Map<string, { readonly version: string; readonly bytes: Promise<SharedArrayBuffer> }>()

/** A database that SQL makes. */
export function baseOfSetup(name: string, setup: string): Base {
  const key = createHash('sha256').update(`${name}\n${setup}`).digest('base64')
  return { key, name, setup }
}

/** A copy of a SQLite file, which is never changed. */
export async function baseOfFile(name: string, file: string): Promise<Base> {
  const { size, mtimeMs, ino } = await reading(stat(file), file)
  if (size > LARGEST) {
    throw new TrinityError('environment/data', `${file} is larger than ${LARGEST >> 20} MB`, {
      path: file,
      hint: 'databases are held in memory, in every thread that runs SQL',
    })
  }
  const version = `${size} ${mtimeMs} ${ino}`
  const known = files.get(file)
  const bytes = known?.version === version ? known.bytes : read(file)
  files.set(file, { version, bytes })
  bytes.catch(() => files.delete(file))
  return { key: `${file} ${version} ${name}`, name, bytes: await bytes }
}

/** Threads share the memory of it. */
async function read(file: string): Promise<SharedArrayBuffer> {
  const content = await reading(readFile(file), file)
  const shared = new SharedArrayBuffer(content.byteLength)
  new Uint8Array(shared).set(content)
  return shared
}
