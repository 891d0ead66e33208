import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fallback, packageName, platformOf, platforms } from '../../native/prebuilt.mjs'
import { builtAddon, builtWasm, findAddon } from './addon-file.js'

describe('findAddon', () => {
  const own = packageName(platformOf() ?? 'linux-x64')
  let root = ''
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'trinity-addon-'))
    writeFileSync(join(root, 'package.json'), '{"version": "2.0.0"}')
  })
  afterEach(() => rmSync(root, { recursive: true }))

  function install(version: string, name = own, main = 'trinity.node'): string {
    const folder = join(root, 'node_modules', name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version, main }))
    writeFileSync(join(folder, main), '')
    return join(folder, main)
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
  it('takes WebAssembly where there is nothing else, and says why', () => {
    const path = install('2.0.0', packageName(fallback), 'trinity.cjs')
    const instead = `the package ${own} is not installed`
    expect(findAddon({}, root)).toEqual({ path, origin: 'wasm', instead })
  })
  it('prefers the package of this platform to WebAssembly', () => {
    install('2.0.0', packageName(fallback), 'trinity.cjs')
    const path = install('2.0.0')
    expect(findAddon({}, root)).toEqual({ path, origin: 'package' })
  })
  it('takes WebAssembly where the user asks for it', () => {
    install('2.0.0')
    const asked = { TRINITY_NATIVE_ADDON: 'wasm' }
    const packed = install('2.0.0', packageName(fallback), 'trinity.cjs')
    expect(findAddon(asked, root)).toMatchObject({ path: packed, origin: 'wasm' })
    mkdirSync(dirname(builtWasm(root)), { recursive: true })
    writeFileSync(builtWasm(root), '')
    expect(findAddon(asked, root)).toMatchObject({ path: builtWasm(root), origin: 'wasm' })
  })
  it('does not take another where the user asks for WebAssembly', () => {
    install('2.0.0')
    const missing = `the package ${packageName(fallback)} is not installed`
    expect(findAddon({ TRINITY_NATIVE_ADDON: 'wasm' }, root)).toEqual({ missing })
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
