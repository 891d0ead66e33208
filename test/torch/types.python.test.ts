import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testPython } from '../support/python.js'

const python = testPython('mypy', 'torch', 'transformers')

describe.skipIf(python.absent)(`types of trinity_torch${python.note}`, () => {
  it('mypy finds nothing, strict as python/pyproject.toml sets it', { timeout: 600_000 }, () => {
    const cwd = resolve(import.meta.dirname, '../../python')
    const { status, stdout, stderr } = spawnSync(python.path, ['-m', 'mypy'], { cwd, encoding: 'utf8' })
    expect(status, stdout + stderr).toBe(0)
    expect(stdout).toMatch(/no issues found in \d{2,} source files/)
  })
})
