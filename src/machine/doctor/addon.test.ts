import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fallback, packageName, platformOf } from '../../../native/prebuilt.mjs'
import { builtAddon, builtWasm } from '../addon-file.js'
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
  it('knows when the user has named another', async () => {
    const named = await checkAddon({ ...localHost(), env: { TRINITY_NATIVE_ADDON: join(root, 'wsm') } }, root)
    expect(named).toMatchObject({
      status: 'wrong',
      fix: 'TRINITY_NATIVE_ADDON names this file: correct it or unset it',
    })
    expect(named.found).toMatch(/^does not load: Cannot find module '.*wsm'$/)
    mkdirSync(dirname(builtWasm(root)), { recursive: true })
    writeFileSync(builtWasm(root), '')
    const slow = await checkAddon({ ...localHost(), env: { TRINITY_NATIVE_ADDON: 'wasm' } }, root)
    expect(slow).toMatchObject({ status: 'warning', fix: expect.stringContaining('unset it') })
  })
  it('warns of WebAssembly, where there is nothing else and where a package does not load', async () => {
    mkdirSync(dirname(builtWasm(root)), { recursive: true })
    writeFileSync(builtWasm(root), '')
    const alone = await checkAddon(localHost(), root)
    expect(alone).toMatchObject({ status: 'warning', data: { origin: 'wasm' } })
    expect(alone.found).toMatch(/^WebAssembly.*is not installed$/)
    const name = packageName(platformOf() ?? fallback)
    const folder = join(root, 'node_modules', name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(root, 'package.json'), '{"version": "2.0.0"}')
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '2.0.0', main: 'trinity.node' }))
    writeFileSync(join(folder, 'trinity.node'), 'not a library')
    const instead = await checkAddon(localHost(), root)
    expect(instead).toMatchObject({ status: 'warning', data: { origin: 'wasm' } })
    expect(instead.found).toMatch(/^WebAssembly.*does not load/)
  })
})
