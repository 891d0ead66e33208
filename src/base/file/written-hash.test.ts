import { appendFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { tempDir } from '../../../test/trainer/kit.js'
import { writeSafetensors } from '../../model/safetensors-write.js'
import { hashFile } from './block-hash.js'
import { rememberHash, takeHash } from './written-hash.js'

vi.mock('./block-hash.js', { spy: true })

const claim = { size: 3, sha256: 'as it was written' }
const file = async () => {
  const path = join(await tempDir(), 'file')
  await writeFile(path, 'abc')
  return path
}

it('is given once, without a look at the content', async () => {
  const path = await file()
  await rememberHash(path, claim)
  expect(await takeHash(path)).toEqual(claim)
  expect(await takeHash(path)).toEqual(await hashFile(path))
})

it('is not given for a file that has been touched since, nor for one of another size', async () => {
  const path = await file()
  await rememberHash(path, claim)
  await appendFile(path, 'd')
  expect(await takeHash(path)).toEqual(await hashFile(path))
  await rememberHash(path, claim)
  expect(await takeHash(path)).toEqual(await hashFile(path))
  const other = await file()
  await rememberHash(other, claim)
  await writeFile(other, 'xyz')
  await utimes(other, 0, 0)
  expect(await takeHash(other)).toEqual(await hashFile(other))
})

it('a safetensors file is hashed as it is written', async () => {
  const path = join(await tempDir(), 'model.safetensors')
  const data = new Float32Array(3_000_000).map((_, i) => i)
  await writeSafetensors(
    path,
    ['a', 'b'].map((name) => ({ name, dtype: 'F32', shape: [data.length], data })),
  )
  vi.mocked(hashFile).mockClear()
  const known = await takeHash(path)
  expect(hashFile).not.toHaveBeenCalled()
  expect(known).toEqual(await hashFile(path))
})
