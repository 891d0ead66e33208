import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { init } from './init.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-init-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

it('refuses an empty name, such as that of a variable nobody has set, and writes nothing', async () => {
  vi.spyOn(process, 'cwd').mockReturnValue(dir)
  await expect(init('', {})).rejects.toMatchObject({ code: 'cli/usage', message: 'the name of the folder is empty' })
  expect(readdirSync(dir)).toEqual([])
  vi.restoreAllMocks()
})
