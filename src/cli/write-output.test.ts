import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { writeOutput } from './write-output.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-output-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

it('writes a file, or says which option names a place where it cannot', () => {
  writeOutput(join(dir, 'x.md'), 'text')
  expect(readFileSync(join(dir, 'x.md'), 'utf8')).toBe('text')
  const fails = (file: string) => {
    try {
      writeOutput(file, 'text')
    } catch (error) {
      return error
    }
    return undefined
  }
  expect(fails(join(dir, 'nope', 'x.md'))).toMatchObject({
    code: 'cli/output',
    message: `cannot write ${join(dir, 'nope', 'x.md')}: there is no folder ${join(dir, 'nope')}`,
    path: '--output',
  })
  expect(fails(dir)).toMatchObject({ code: 'cli/output', message: expect.stringContaining('EISDIR') })
})
