import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, expect, it, vi } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { upgradeConfig } from './upgrade-config.js'

afterEach(() => void vi.restoreAllMocks())

/** What is printed, without colors. */
async function upgrade(files: string[], write = false) {
  let text = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((part) => {
    text += part
    return true
  })
  const code = await upgradeConfig(files, { write })
  return { code, text: stripVTControlCharacters(text) }
}

it('shows the difference, writes when asked, and leaves current and broken files alone', async () => {
  const dir = await tempDir()
  const [old, current, broken] = ['old', 'current', 'broken'].map((name) => join(dir, `${name}.yaml`))
  writeFileSync(old, 'model:\n  max_token_len: 8 # tokens\n')
  writeFileSync(current, 'mode:   both\n')
  writeFileSync(broken, 'a: [\n')
  const shown = await upgrade([old, current, broken])
  expect(shown.code).toBe(2)
  expect(shown.text).toContain('     -   max_token_len: 8 # tokens\n     +   max_model_len: 8 # tokens\n')
  expect(shown.text).toContain(`ok   ${current}`)
  expect(shown.text).toContain(`bad  ${broken}`)
  expect(shown.text).toContain('nothing was changed; add --write')
  expect(readFileSync(old, 'utf8')).toContain('max_token_len')
  expect(await upgrade([old], true)).toMatchObject({
    code: 0,
    text: expect.stringContaining('model.max_token_len is now'),
  })
  expect(readFileSync(old, 'utf8')).toBe('model:\n  max_model_len: 8 # tokens\n')
  expect(await upgrade([old])).toEqual({ code: 0, text: `ok   ${old}\n` })
  await expect(upgrade([join(dir, 'none.yaml')])).rejects.toThrow(/no file/)
})
