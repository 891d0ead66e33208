import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { zipped } from './zip.fixture.js'
import { ZipFile } from './zip.js'

const FILES: Readonly<Record<string, string>> = {
  'META-INF/MANIFEST.MF': 'Version: 1.0\n',
  'a/long.txt': 'the same again and '.repeat(1000),
  'a/ünï.txt': 'ü',
  'empty.txt': '',
}

let folder: string
beforeAll(async () => {
  folder = await tempDir()
})
async function openBytes(bytes: Uint8Array): Promise<ZipFile> {
  const path = join(folder, 'some.zip')
  await writeFile(path, bytes)
  return ZipFile.open(path)
}
async function contents(zip: ZipFile): Promise<Record<string, string>> {
  try {
    const texts = await Promise.all(zip.names.map(async (name) => [name, (await zip.read(name)).toString()]))
    return Object.fromEntries(texts)
  } finally {
    await zip.close()
  }
}

const python = spawnSync('python3', ['--version']).status === 0

describe('ZipFile', () => {
  it('reads stored and deflated entries, also where a comment looks like an end', async () => {
    expect(await contents(await openBytes(zipped(FILES)))).toEqual(FILES)
    expect(await contents(await openBytes(zipped(FILES, `PK\x05\x06${'x'.repeat(40)}`)))).toEqual(FILES)
    expect(await contents(await openBytes(zipped({})))).toEqual({})
  })

  it.skipIf(!python)(`reads what Python writes${python ? '' : ' (skipped: there is no python3)'}`, async () => {
    const path = join(folder, 'python.zip')
    const script = `import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as z:
    for name, text in json.loads(sys.argv[2]).items(): z.writestr(name, text)`
    expect(spawnSync('python3', ['-c', script, path, JSON.stringify(FILES)]).status).toBe(0)
    expect(await contents(await ZipFile.open(path))).toEqual(FILES)
  })

  it('says what is wrong with a file that is none, is cut off or is not there', async () => {
    for (const bytes of [Buffer.from('text'), Buffer.alloc(0), zipped(FILES).subarray(0, 300)]) {
      await expect(openBytes(bytes)).rejects.toMatchObject({ code: 'file/zip' })
    }
    await expect(ZipFile.open(join(folder, 'no.zip'))).rejects.toThrow('no.zip')
    const zip = await openBytes(zipped(FILES))
    expect([zip.has('empty.txt'), zip.has('full.txt')]).toEqual([true, false])
    await expect(zip.read('full.txt')).rejects.toThrow('it has no full.txt')
    await zip.close()
  })

  it('gives the true bytes or a plain error, whatever byte is changed', async () => {
    const whole = zipped(FILES)
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const bytes = Buffer.from(whole)
        bytes[at] ^= change
        try {
          for (const text of Object.values(await contents(await openBytes(bytes)))) {
            expect(Object.values(FILES)).toContain(text)
          }
        } catch (error) {
          expect(error).toMatchObject({ code: 'file/zip' })
        }
      }),
      { numRuns: 150 },
    )
  })
})
