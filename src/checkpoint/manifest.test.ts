import { mkdir, open, readFile, rename, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, describe as group, it, vi } from 'vitest'
import { tempDir } from '../../test/trainer/kit.js'
import * as blocks from '../base/file/block-hash.js'
import { rememberHash } from '../base/file/written-hash.js'
import { damage, describe } from './manifest.js'
import { sampledHash } from './manifest-v1.js'

vi.mock('../base/file/block-hash.js', { spy: true })

const MIB = 1 << 20
let dir: string
const WEIGHTS = 'actor/weights.bin'
const file = (name = WEIGHTS) => join(dir, name)
const list = (value: unknown) => writeFile(file('.full_checkpoint'), JSON.stringify(value))
const readFiles = () => vi.mocked(blocks.hashFile).mock.calls.filter(([path]) => path === file()).length
async function zero(at: number, length: number) {
  const handle = await open(file(), 'r+')
  await handle.write(Buffer.alloc(length), 0, length, at)
  await handle.close()
}

beforeEach(async () => {
  dir = join(await tempDir(), 'global_step_3')
  await mkdir(join(dir, 'actor'), { recursive: true })
  await writeFile(file('run_state.json'), '{}')
})
afterEach(() => vi.clearAllMocks())

group('of a large file', () => {
  beforeEach(async () => {
    await writeFile(file(), Buffer.alloc(100 * MIB, 'weights '))
    await list(await describe(dir, 3))
  })

  it.each([
    ['half a megabyte of zeros between two samples of old', 1.02 * MIB, 545_000],
    ['one byte in the middle', 50 * MIB + 12_345, 1],
    ['the last byte', 100 * MIB - 1, 1],
  ])('finds %s', async (_, at, length) => {
    expect(await damage(dir, 3)).toBeUndefined()
    await zero(Math.floor(at), length)
    expect(await damage(dir, 3)).toBe('the content of actor/weights.bin has changed')
  })

  it('a list of version 1 is checked as far as it goes', async () => {
    const state = await sampledHash(file('run_state.json'))
    const files = {
      [WEIGHTS]: { size: 100 * MIB, sha256: await sampledHash(file()) },
      'run_state.json': { size: 2, sha256: state },
    }
    await list({ version: 1, step: 3, files })
    expect(await damage(dir, 3)).toBeUndefined()
    await zero(Math.floor(1.02 * MIB), 545_000)
    expect(await damage(dir, 3)).toBeUndefined()
    await zero(0, 10)
    expect(await damage(dir, 3)).toBe('the content of actor/weights.bin has changed')
  })

  it('reads it once as long as nobody touches it, and again when somebody has', async () => {
    const verified = new Map<string, string>()
    const before = readFiles()
    for (let i = 0; i < 3; i++) expect(await damage(dir, 3, verified)).toBeUndefined()
    expect(readFiles() - before).toBe(1)
    await zero(MIB, 1)
    await utimes(file(), 0, 0)
    expect(await damage(dir, 3, verified)).toContain('has changed')
    expect(await damage(dir, 3, verified)).toContain('has changed')
  })
})

it('does not read what was hashed as it was written, and finds what the disk made of it', async () => {
  const bytes = Buffer.alloc(5 * MIB, 'weights ')
  await writeFile(file(), bytes)
  const hash = await blocks.hashFile(file())
  // the disk has lost a byte of what was written
  bytes[3 * MIB] = 0
  await writeFile(file('new'), bytes)
  await rename(file('new'), file())
  await rememberHash(file(), hash)
  const before = readFiles()
  await list(await describe(dir, 3))
  expect(readFiles() - before).toBe(0)
  expect(await damage(dir, 3)).toBe('the content of actor/weights.bin has changed')
})

it('a small file has the hash that sha256sum prints', async () => {
  await writeFile(file(), 'abc')
  const { version, files } = await describe(dir, 3)
  expect(version).toBe(2)
  expect(files[WEIGHTS].sha256).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

it.each([
  [{ version: 3, step: 3, files: {} }, 'another release'],
  [{ version: 2, step: 3 }, 'not a list'],
  [{ version: 2, step: 3, files: { a: null } }, 'not a list'],
  [{ version: 1, step: 3, files: { a: { size: '1', sha256: '' } } }, 'not a list'],
  [{ version: 2, step: 4, files: {} }, 'step 4'],
])('a list that is none: %j', async (value, wrong) => {
  await list(value)
  expect(await damage(dir, 3)).toContain(wrong)
  expect(await readFile(file('.full_checkpoint'), 'utf8')).toBe(JSON.stringify(value))
})
