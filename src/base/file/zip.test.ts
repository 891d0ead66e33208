import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { crc32 } from '../crc.js'
import { ZipFile } from './zip.js'

const FILES: Readonly<Record<string, string>> = {
  'META-INF/MANIFEST.MF': 'Version: 1.0\n',
  'a/long.txt': 'the same again and '.repeat(1000),
  'a/ünï.txt': 'ü',
  'empty.txt': '',
}

/** As the format is described: each file with its header, then the directory, then where the directory is. */
function zipped(files: Readonly<Record<string, string>>, comment = ''): Buffer {
  const parts: Buffer[] = []
  const list: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(files)) {
    const data = Buffer.from(text)
    const stored = data.length < 20
    const packed = stored ? data : deflateRawSync(data)
    const label = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(stored ? 0 : 8, 4)
    common.writeUInt32LE(crc32(data), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(data.length, 18)
    common.writeUInt16LE(label.length, 22)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    list.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), common, place, label)
    const local = [Buffer.from('PK\x03\x04', 'latin1'), common, label, packed]
    parts.push(...local)
    offset += Buffer.concat(local).length
  }
  const directory = Buffer.concat(list)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(Object.keys(files).length, 8)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  end.writeUInt16LE(comment.length, 20)
  return Buffer.concat([...parts, directory, end, Buffer.from(comment, 'latin1')])
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
