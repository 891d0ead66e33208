import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { sha256 } from './sha256.js'

it('is what sha256sum prints', async () => {
  const path = join(await tempDir(), 'file')
  await writeFile(path, 'abc')
  expect(await sha256(path)).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
