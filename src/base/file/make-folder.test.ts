import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { bundle } from '../../../test/bundle.js'
import { tempDir } from '../../../test/trainer/kit.js'
import { makeFolder, makeFolderSync } from './make-folder.js'
import { inWords } from './system-error.js'

describe.each([
  ['makeFolder', makeFolder],
  ['makeFolderSync', async (path: string) => makeFolderSync(path)],
])('%s', (_, make) => {
  it('creates missing parents and returns the first of them', async () => {
    const dir = await tempDir()
    expect(await make(join(dir, 'a', 'b', 'c'))).toBe(join(dir, 'a'))
    expect(await make(join(dir, 'a', 'd'))).toBe(join(dir, 'a', 'd'))
    expect(await make(join(dir, 'a'))).toBeUndefined()
    expect(readdirSync(join(dir, 'a')).sort()).toEqual(['b', 'd'])
  })

  it('succeeds when several create the same folders at once', async () => {
    const path = join(await tempDir(), 'a', 'b', 'c', 'd')
    await Promise.all(Array.from({ length: 20 }, () => make(path)))
    expect(existsSync(path)).toBe(true)
  })

  it.each(['file', 'file/a', 'file/a/b'])('throws where a file is in the way: %s', async (place) => {
    const dir = await tempDir()
    writeFileSync(join(dir, 'file'), '')
    await expect(make(join(dir, place))).rejects.toMatchObject({ code: place === 'file' ? 'EEXIST' : 'ENOTDIR' })
  })

  it.runIf(existsSync('/proc/self'))('throws where the file system has no folders to create', async () => {
    for (const place of ['/proc/none', '/proc/none/a/b']) {
      await expect(inWords(make(place))).rejects.toMatchObject({ code: 'file/enoent', path: '/proc/none' })
    }
  })
})

it.runIf(existsSync('/proc/self'))('leaves the process able to end', async () => {
  const dir = await tempDir()
  mkdirSync(join(dir, 'src'))
  const entry = join(dir, 'src', 'entry.ts')
  const source = join(import.meta.dirname, 'make-folder.ts')
  writeFileSync(
    entry,
    `import { makeFolder } from ${JSON.stringify(source)}\nmakeFolder('/proc/none/a').catch((e) => console.log(e.code))\n`,
  )
  const { stdout } = await promisify(execFile)(process.execPath, [await bundle(entry)], { timeout: 60_000 })
  expect(stdout.trim()).toBe('ENOENT')
})
