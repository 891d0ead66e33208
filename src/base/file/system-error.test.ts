import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { TrinityError } from '../error.js'
import { atomicFile } from './atomic-file.js'
import { inWords, reading, systemError, unreadable } from './system-error.js'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-system-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

it.runIf(process.platform === 'linux')('a full disk names the file, although the call does not', async () => {
  const path = join(dir, 'state.json')
  const written = atomicFile(path, async () => {
    const full = await open('/dev/full', 'w')
    try {
      await full.writeFile('x')
    } finally {
      await full.close()
    }
  })
  await expect(written).rejects.toMatchObject({
    code: 'file/enospc',
    path,
    message: expect.stringMatching(/^the disk is full: cannot write .*state\.json \(ENOSPC/),
    hint: expect.stringContaining('resumes from the last checkpoint'),
  })
})

it('a file in the way of a folder, and a folder in the way of a file', async () => {
  const file = join(dir, 'file')
  await writeFile(file, '')
  const below = join(file, 'a', 'b')
  await expect(inWords(mkdir(below, { recursive: true }))).rejects.toMatchObject({
    code: 'file/enotdir',
    message: expect.stringContaining('is a file, not a folder'),
  })
  await expect(inWords(mkdir(file), undefined, 'config/folder')).rejects.toMatchObject({
    code: 'config/folder',
    path: file,
  })
  await expect(inWords(writeFile(dir, ''))).rejects.toMatchObject({ code: 'file/eisdir', path: dir })
})

it.each(['EACCES', 'EROFS', 'EDQUOT', 'EMFILE', 'SQLITE_FULL'])('%s has words and a fix', (code) => {
  const told = systemError(Object.assign(new Error(`${code}: so it is, open '/a/b'`), { code }), '/a/b')
  expect(told).toBeInstanceOf(TrinityError)
  expect(told).toMatchObject({ path: '/a/b', hint: expect.stringMatching(/\w{4}/) })
})

it('a file that is only read is to be made readable: no other place to write to is asked for', async () => {
  const denied = unreadable(
    '/a/b',
    Object.assign(new Error("EACCES: permission denied, open '/a/b'"), { code: 'EACCES' }),
  )
  expect(denied).toMatchObject({
    code: 'file/unreadable',
    path: '/a/b',
    message: 'no permission to read /a/b (EACCES: permission denied, open)',
    hint: expect.stringContaining('chmod +r'),
  })
  await expect(reading(readFile(dir), dir, 'a/b')).rejects.toMatchObject({
    code: 'a/b',
    hint: 'give the path of a file',
  })
  await expect(reading(readFile(join(dir, 'none')), join(dir, 'none'))).rejects.toMatchObject({
    code: 'file/unreadable',
    message: expect.stringContaining('ENOENT'),
  })
  const own = new Error('not of the system')
  await expect(reading(Promise.reject(own), dir)).rejects.toBe(own)
})

it('a copy fails where it is written', () => {
  const error = Object.assign(new Error("ENOSPC: no space left on device, copyfile '/a' -> '/b'"), {
    ...{ code: 'ENOSPC', syscall: 'copyfile', path: '/a', dest: '/b' },
  })
  expect(systemError(error)).toMatchObject({ path: '/b', message: expect.stringContaining('cannot write /b (ENOSPC') })
})

it('leaves everything else as it is', () => {
  const errors = [new Error('x'), new TrinityError('a/b', 'c'), undefined, 'text']
  expect(errors.map((error) => systemError(error))).toEqual(errors)
  const faster = Object.assign(new Error('there already'), { code: 'EEXIST', syscall: 'link' })
  expect(systemError(faster)).toBe(faster)
})
