import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TrinityError } from '../../base/error.js'
import { openDataFile } from './open-file.js'

const fixtures = fileURLToPath(new URL('./fixture/values', import.meta.url))
/** Bytes that are often lengths, signs or ends. */
const EDGES = [0, 1, 0x7f, 0x80, 0xff]

/**
 * Reads a file again and again with a few of its bytes changed, or with its end cut off, the same ones in every run. Gives
 * what was thrown that is no `TrinityError` with the path of the file.
 */
export async function readDamaged(name: string, dir: string, times: number): Promise<string[]> {
  const sound = await readFile(join(fixtures, name))
  const path = join(dir, name)
  const odd: string[] = []
  for (let i = 0; i < times; i++) {
    const draw = generator(i + 12_345)
    const bytes = Buffer.from(sound)
    const changes = 1 + Math.floor(draw() * 4)
    for (let k = 0; k < changes; k++) {
      const at = Math.floor(draw() * bytes.length)
      bytes[at] = draw() < 0.5 ? EDGES[Math.floor(draw() * EDGES.length)] : Math.floor(draw() * 256)
    }
    await writeFile(path, draw() < 0.1 ? bytes.subarray(0, Math.floor(draw() * bytes.length)) : bytes)
    try {
      await readAll(path)
    } catch (error) {
      if (!(error instanceof TrinityError && error.path?.startsWith(path))) odd.push(`${i}: ${error}`)
    }
  }
  return odd
}

async function readAll(path: string): Promise<void> {
  const source = await openDataFile(path)
  try {
    let rows = 0
    for await (const _ of source.scan()) if (++rows > 1000) break
    for (let row = 0; row < Math.min(10, source.length); row++) await source.row(row)
  } finally {
    await source.close()
  }
}

function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}
