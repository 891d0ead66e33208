import { createHash, webcrypto } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { tempDir } from '../../../test/trainer/kit.js'
import { BLOCK, BlockHash, hashFile } from './block-hash.js'

const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
const noise = (length: number) => Buffer.from(new Uint8Array(length).map((_, i) => (i * 2654435761) >>> 13))
/** By the definition, from the whole content. */
function expected(bytes: Buffer): string {
  if (bytes.length <= BLOCK) return sha(bytes).toString('hex')
  const blocks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += BLOCK) blocks.push(sha(bytes.subarray(at, at + BLOCK)))
  return sha(Buffer.concat(blocks)).toString('hex')
}

it.each([0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 6 * BLOCK, 6 * BLOCK + 77])(
  'hashes %i bytes, however they are cut',
  async (size) => {
    const bytes = noise(size)
    const whole = { size, sha256: expected(bytes) }
    for (const piece of [1_000_003, BLOCK, 3 * BLOCK + 5]) {
      const hash = new BlockHash()
      for (let at = 0; at < size; at += piece) {
        const given = Buffer.from(bytes.subarray(at, at + piece))
        await hash.update(given)
        given.fill(0)
      }
      expect(await hash.digest()).toEqual(whole)
    }
    const path = join(await tempDir(), 'file')
    await writeFile(path, bytes)
    expect(await hashFile(path)).toEqual(whole)
  },
)

it('takes bytes of shared memory', async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(BLOCK + 9)).fill(3)
  const hash = new BlockHash()
  await hash.update(shared)
  expect((await hash.digest()).sha256).toBe(expected(Buffer.alloc(BLOCK + 9, 3)))
})

it('holds back who is faster than the hash: a file of any size is never in memory', async () => {
  let [now, most] = [0, 0]
  const { digest } = webcrypto.subtle
  vi.spyOn(webcrypto.subtle, 'digest').mockImplementation(async (name, bytes) => {
    most = Math.max(most, ++now)
    try {
      return await digest.call(webcrypto.subtle, name, bytes)
    } finally {
      now--
    }
  })
  const hash = new BlockHash()
  await hash.update(Buffer.alloc(20 * BLOCK, 1))
  await hash.digest()
  vi.restoreAllMocks()
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(4)
})
