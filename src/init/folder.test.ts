import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { defaultFolder } from './folder.js'

it('a project without a name goes into an empty folder, or into a new one', async () => {
  const here = await tempDir()
  mkdirSync(join(here, '.git'))
  expect(defaultFolder(here)).toBe('.')
  writeFileSync(join(here, 'package.json'), '{}')
  expect(defaultFolder(here)).toBe('my-agent')
  mkdirSync(join(here, 'my-agent'))
  expect(defaultFolder(here)).toBe('my-agent-2')
})
