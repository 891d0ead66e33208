import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type FakeFaults, FakePython } from '../../test/support/fake-python.js'
import type { TorchOptions } from '../engine/torch/options.js'
import { type SetupCommand, setupTorch } from './setup.js'

describe('trinity setup torch', () => {
  let python: FakePython
  let home: string
  let dir: string
  let out = ''
  const verified: TorchOptions[] = []
  const verify = async (options: TorchOptions) => {
    verified.push(options)
    return 'torch 2.11.1 on cpu'
  }
  const setup = (options: SetupCommand = {}, faults?: FakeFaults) => {
    if (faults) python.faults(faults)
    return setupTorch({ dir, python: python.path, yes: true, cpu: true, ...options }, verify)
  }

  beforeEach(() => {
    python = new FakePython()
    home = mkdtempSync(join(tmpdir(), 'trinity-home-'))
    dir = join(home, 'deep', 'env')
    verified.length = 0
    out = ''
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      out += stripVTControlCharacters(String(text))
      return true
    })
  })
  afterEach(() => {
    vi.restoreAllMocks()
    python.remove()
    rmSync(home, { recursive: true })
  })

  it('says what and how much before it does anything', async () => {
    expect(await setup({ dryRun: true, cpu: false })).toBe(0)
    expect(out).toMatch(/torch with CUDA \(2\.11 or newer\)/)
    expect(out).toMatch(/transformers \(5\.0 or newer\)/)
    expect(out).toMatch(/cuDNN's attention \(1\.18 or newer\)/)
    expect(out).toMatch(/about 2\.5 GiB to download, about 5\.9 GiB on the disk/)
    expect(out).toContain('Nothing was done')
    expect(python.calls).toEqual([])
    expect(existsSync(dir)).toBe(false)
  })

  it('asks, and cannot ask where nobody is', async () => {
    await expect(setup({ yes: false })).rejects.toMatchObject({ code: 'cli/setup', hint: 'add --yes' })
    expect(python.calls).toEqual([])
  })

  it('makes the environment, shows progress, and tries it out', async () => {
    expect(await setup()).toBe(0)
    expect(python.calls).toEqual([
      `venv --clear ${dir}`,
      'pip install --progress-bar off --disable-pip-version-check --index-url https://download.pytorch.org/whl/cpu torch>=2.11',
      'pip install --progress-bar off --disable-pip-version-check transformers>=5.0',
    ])
    expect(out).toMatch(/Downloading torch\.whl \(1\.2 MB\)/)
    expect(out).not.toContain('noise')
    expect(verified).toEqual([{ python: join(dir, 'bin', 'python3'), device: 'cpu' }])
    expect(out).toMatch(/ready: torch 2\.11\.1 on cpu/)
    expect(out).toContain(`export TRINITY_PYTHON=${join(dir, 'bin', 'python3')}`)
  })

  it('takes packages from where it is told', async () => {
    await setup({ cpu: false, indexUrl: 'http://mirror/simple' })
    expect(python.calls.slice(1).every((call) => call.includes('--index-url http://mirror/simple'))).toBe(true)
    expect(python.calls.at(-1)).toContain('nvidia-cudnn-frontend>=1.18,<1.21')
    rmSync(dir, { recursive: true })
    await setup({ indexUrl: 'http://mirror/simple', torchIndexUrl: 'http://mirror/cpu' })
    expect(python.calls.at(-2)).toContain('--index-url http://mirror/cpu torch')
    expect(python.calls.at(-1)).toContain('--index-url http://mirror/simple transformers')
  })

  it('goes on where it stopped, and has nothing to do the next time', async () => {
    const broken = { pip: 'ConnectionError: HTTPSConnectionPool: Max retries exceeded with url: /torch', once: true }
    await expect(setup({}, broken)).rejects.toMatchObject({
      code: 'setup/network',
      hint: expect.stringContaining('--index-url'),
    })
    await setup()
    expect(python.calls.filter((call) => call.startsWith('venv'))).toHaveLength(1)
    const calls = python.calls.length
    await setup()
    expect(python.calls).toHaveLength(calls)
    expect(out).toContain('everything is already there')
    expect(verified).toHaveLength(2)
  })

  it('replaces an environment that is broken', async () => {
    await setup()
    writeFileSync(join(dir, 'bin', 'python3'), '#!/bin/sh\nexit 1\n')
    await setup()
    expect(python.calls.filter((call) => call.startsWith('venv'))).toHaveLength(2)
  })

  it.each([
    [
      'setup/venv',
      { venv: 'The virtual environment was not created because ensurepip is not available.' },
      /python3-venv/,
    ],
    ['setup/permission', { venv: "Error: [Errno 13] Permission denied: '/opt/env'" }, /--dir/],
    ['setup/disk', { pip: 'ERROR: Could not install packages: [Errno 28] No space left on device' }, /--dir/],
    ['setup/package', { pip: 'ERROR: No matching distribution found for torch>=2.11' }, /--python/],
    ['setup/pip', { pip: 'ERROR: something else' }, /resumes/],
    ['setup/python', { version: '3.8.10' }, /apt install/],
  ] as const)('%s', async (code, faults, hint) => {
    await expect(setup({}, faults)).rejects.toMatchObject({ code, hint: expect.stringMatching(hint) })
    expect(verified).toEqual([])
  })

  it('says when there is no Python at all', async () => {
    await expect(setup({ python: join(home, 'none') })).rejects.toMatchObject({ code: 'setup/python' })
  })
})
