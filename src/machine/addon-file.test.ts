import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { packageName, platformOf, platforms } from '../../native/prebuilt.mjs'
import { builtAddon, findAddon } from './addon-file.js'

describe('findAddon', () => {
  const own = packageName(platformOf() ?? 'linux-x64')
  let root = ''
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'trinity-addon-'))
    writeFileSync(join(root, 'package.json'), '{"version": "2.0.0"}')
  })
  afterEach(() => rmSync(root, { recursive: true }))

  function install(version: string): string {
    const folder = join(root, 'node_modules', own)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: own, version, main: 'trinity.node' }))
    writeFileSync(join(folder, 'trinity.node'), '')
    return join(folder, 'trinity.node')
  }

  it('names the package that is not installed', () => {
    expect(findAddon({}, root)).toEqual({ missing: `the package ${own} is not installed` })
  })
  it('takes the package of this platform', () => {
    const path = install('2.0.0')
    expect(findAddon({}, root)).toEqual({ path, origin: 'package' })
  })
  it('refuses one of another version', () => {
    install('1.9.0')
    expect(findAddon({}, root)).toEqual({ missing: `${own} has version 1.9.0, but this is 2.0.0` })
  })
  it('prefers what was compiled here, and a file that the user names to both', () => {
    install('2.0.0')
    mkdirSync(join(root, 'native', 'build'), { recursive: true })
    writeFileSync(builtAddon(root), '')
    expect(findAddon({}, root)).toEqual({ path: builtAddon(root), origin: 'compiled' })
    const named = { path: '/elsewhere/trinity.node', origin: 'named' }
    expect(findAddon({ TRINITY_NATIVE_ADDON: named.path }, root)).toEqual(named)
  })
})

describe('platformOf', () => {
  it('knows each platform by what package managers go by', () => {
    for (const [name, { os, cpu, libc }] of Object.entries(platforms)) expect(platformOf(os, cpu, libc)).toBe(name)
  })
  it('has no package for others', () => {
    expect(platformOf('linux', 'riscv64', 'glibc')).toBeUndefined()
    expect(platformOf('win32', 'arm64')).toBeUndefined()
  })
})
