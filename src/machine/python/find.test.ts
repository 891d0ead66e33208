import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { fakeHost } from '../../../test/fake-host.js'
import { execLocal } from './exec.js'
import { findPython, isRecent, parsePythonAnswer, pythonSources } from './find.js'

const answer = (version: string, packages = {}, torchCuda: string | null = null) => ({
  stdout: `trinity-doctor ${JSON.stringify({ executable: '/usr/bin/python3', version, packages, torchCuda })}\n`,
})

describe('parsePythonAnswer', () => {
  it('finds the line among others', () => {
    const text = `hello from sitecustomize\n${answer('3.12.3', { torch: '2.11.0' }, '13.0').stdout}`
    expect(parsePythonAnswer(text)).toEqual({
      executable: '/usr/bin/python3',
      version: '3.12.3',
      packages: { torch: '2.11.0' },
      torchCuda: '13.0',
    })
  })
  it.each(['', 'Python 3.12', 'trinity-doctor {broken}', 'trinity-doctor {}'])('makes nothing of %j', (text) => {
    expect(parsePythonAnswer(text)).toBeUndefined()
  })
})

it.each([
  ['3.10.0', true],
  ['3.9.19', false],
  ['3.13.1', true],
  ['2.7.18', false],
  ['4.0.0', true],
])('Python %s is recent: %s', (version, recent) => expect(isRecent(version)).toBe(recent))

describe('findPython', () => {
  it('tries the environment folder, then PATH', async () => {
    const folder = '/home/someone/.trinity/python/bin/python3'
    const programs = { python3: answer('3.11.7'), [folder]: answer('3.12.0') }
    expect((await findPython(fakeHost({ programs }))).source?.from).toBe('~/.trinity/python')
    expect((await findPython(fakeHost({ programs: { python3: answer('3.11.7') } }))).source?.from).toBe('PATH')
  })
  it('prefers one that has torch', async () => {
    const programs = { python3: answer('3.13.0'), python: answer('3.11.7', { torch: '2.11.0' }) }
    expect((await findPython(fakeHost({ programs }))).source?.command).toBe('python')
  })
  it('uses TRINITY_PYTHON alone when it is set', async () => {
    const host = fakeHost({ env: { TRINITY_PYTHON: '/gone' }, programs: { python3: answer('3.11.7') } })
    expect(pythonSources(host)).toHaveLength(1)
    expect(await findPython(host)).toMatchObject({ source: { chosen: true }, failure: { status: 'missing' } })
  })
  it('passes over one that is too old, and gives it when there is no other', async () => {
    const both = fakeHost({ programs: { python3: answer('3.8.1'), python: answer('3.12.0') } })
    expect((await findPython(both)).info?.version).toBe('3.12.0')
    const old = fakeHost({ programs: { python3: answer('3.8.1') } })
    expect((await findPython(old)).info?.version).toBe('3.8.1')
  })
})

const host = { env: {}, home: homedir(), exec: execLocal }
const python = (await host.exec('python3', ['--version'])).status === 'ok'

describe.skipIf(!python)('the question itself (skipped without python3)', () => {
  const site = mkdtempSync(join(tmpdir(), 'trinity-site-'))
  afterAll(() => rmSync(site, { recursive: true }))

  it('reads metadata and never imports a package', async () => {
    const put = (path: string, text: string) => writeFileSync(join(site, path), text)
    mkdirSync(join(site, 'torch'))
    mkdirSync(join(site, 'torch-9.8.7.dist-info'))
    put('torch/__init__.py', 'raise SystemExit("imported")')
    put('torch/version.py', "from typing import Optional\n__version__ = '9.8.7+cu999'\ncuda: Optional[str] = '99.9'\n")
    put('torch-9.8.7.dist-info/METADATA', 'Metadata-Version: 2.1\nName: torch\nVersion: 9.8.7\n')
    const before = process.env.PYTHONPATH
    process.env.PYTHONPATH = site
    try {
      const probe = await findPython({ ...host, home: '/nowhere' })
      expect(probe.info).toMatchObject({ packages: { torch: '9.8.7' }, torchCuda: '99.9' })
    } finally {
      if (before === undefined) delete process.env.PYTHONPATH
      else process.env.PYTHONPATH = before
    }
  })
})
