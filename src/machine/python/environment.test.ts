import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { environmentDir, hasTorch } from './environment.js'
import { belowFloor, requirement } from './floors.js'
import { cudaDevices } from './gpus.js'

describe('hasTorch', () => {
  const home = mkdtempSync(join(tmpdir(), 'trinity-home-'))
  afterAll(() => {
    vi.unstubAllEnvs()
    rmSync(home, { recursive: true })
  })

  it('believes what the user names, if it is there', () => {
    expect(hasTorch({ TRINITY_PYTHON: process.execPath }, home)).toBe(true)
    expect(hasTorch({ TRINITY_PYTHON: join(home, 'none') }, home)).toBe(false)
  })
  it('looks into the environment of trinity setup, and asks python3 otherwise', () => {
    vi.stubEnv('PATH', home)
    expect(hasTorch({}, home)).toBe(false)
    mkdirSync(join(environmentDir(home), 'lib', 'python3.12', 'site-packages', 'torch'), { recursive: true })
    expect(hasTorch({}, home)).toBe(true)
    rmSync(join(home, '.trinity'), { recursive: true })
  })
  it.each([
    ['{"torch": "2.11.0+cu130", "transformers": "5.1.0"}', true],
    ['{"torch": "2.6.0", "transformers": "5.1.0"}', false],
    ['{"torch": "2.11.0", "transformers": "4.50.0"}', false],
    ['PackageNotFoundError', false],
  ])('a python3 that has %s: %s', (said, can) => {
    writeFileSync(join(home, 'python3'), `#!/bin/sh\necho '${said}'\n`, { mode: 0o755 })
    vi.stubEnv('PATH', `${home}:/bin:/usr/bin`)
    expect(hasTorch({}, home)).toBe(can)
    expect(hasTorch({ TRINITY_PYTHON: 'python3' }, home)).toBe(can)
  })
})

it('no CUDA device is visible when the variable is empty', () => {
  expect(cudaDevices({ CUDA_VISIBLE_DEVICES: '' })).toBe(0)
  expect(cudaDevices({ CUDA_VISIBLE_DEVICES: '-1' })).toBe(0)
})

it.each([
  ['torch', '2.11.0', false],
  ['torch', '2.9.1+cu128', true],
  ['torch', '3.0', false],
  ['transformers', '4.57.3', true],
  ['transformers', '5.0.0rc1', false],
  ['ray', '0.1', false],
])('%s %s is below the floor: %s', (name, version, below) => expect(belowFloor(name, version)).toBe(below))

it('asks pip for the floors', () => expect(requirement('torch')).toBe('torch>=2.11'))
