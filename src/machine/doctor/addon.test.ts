import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { builtAddon } from '../addon-file.js'
import { checkAddon } from './addon.js'
import { localHost } from './host.js'

describe('checkAddon', () => {
  let root = ''
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'trinity-addon-'))
  })
  afterEach(() => rmSync(root, { recursive: true }))

  it('says when it is not built', async () => {
    const check = await checkAddon(localHost(), root)
    expect(check).toMatchObject({ status: 'missing', required: true, found: expect.stringMatching(/^not built, and/) })
    expect(check.fix).toContain('npm rebuild trinity-rft')
  })
  it('says why one does not load', async () => {
    mkdirSync(join(root, 'native', 'build'), { recursive: true })
    writeFileSync(builtAddon(root), 'not a library')
    const check = await checkAddon(localHost(), root)
    expect(check.status).toBe('wrong')
    expect(check.found).toMatch(/does not load: .*trinity\.node/)
  })
})
