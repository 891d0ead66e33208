import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { root } from '../../test/support/doc-blocks.js'
import { tempDir } from '../../test/support/temp-dir.js'
import { ownExample } from './own-example.js'

describe('a path of an example', () => {
  const before = process.cwd()
  let told = ''
  beforeEach(async () => {
    process.chdir(await tempDir())
    told = ''
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      told += String(text)
      return true
    })
  })
  afterEach(() => {
    vi.restoreAllMocks()
    process.chdir(before)
  })

  it('is that of the package where the current folder has none, and says so', () => {
    expect(ownExample('examples/quickstart/model')).toBe(join(root, 'examples/quickstart/model'))
    expect(told).toContain('examples/quickstart/model is taken from the package')
    expect(ownExample('./examples/quickstart/quickstart.yaml')).toBe(join(root, 'examples/quickstart/quickstart.yaml'))
  })

  it('is that of the current folder where it has one', () => {
    mkdirSync('examples/quickstart/model', { recursive: true })
    expect(ownExample('examples/quickstart/model')).toBe('examples/quickstart/model')
    expect(told).toBe('')
  })

  it.each(['examples/nowhere', 'org/model', 'mine/examples/quickstart/model', 'docs/chat.md'])('is not %s', (path) => {
    expect(ownExample(path)).toBe(path)
    expect(told).toBe('')
  })
})
