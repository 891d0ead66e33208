import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { torchTestPython } from '../support/python.js'

/** The Python half's own tests, a process for each folder: starting torch takes longer than most of them. */

const python = torchTestPython()
const root = resolve(import.meta.dirname, '../../python')
const folderOf = (module: string) => module.slice(0, module.lastIndexOf('.'))
const modules = readdirSync(join(root, 'tests'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /(^|[/\\])test_\w+\.py$/.test(path))
  .map((path) => `tests.${path.slice(0, -3).replace(/[/\\]/g, '.')}`)
  .sort()

function run(these: readonly string[]): Promise<{ code: number | null; said: string }> {
  return new Promise((done) => {
    // small models: several threads wait for each other longer than they compute
    const env = { OMP_NUM_THREADS: '1', ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
    const child = spawn(python.path, ['-m', 'unittest', '-b', ...these], { cwd: root, env })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
    child.on('close', (code) => done({ code, said }))
  })
}

describe.skipIf(python.absent)(`trinity_torch${python.note}`, () => {
  it.each([...new Set(modules.map(folderOf))])(
    '%s',
    async (folder) => {
      const { code, said } = await run(modules.filter((module) => folderOf(module) === folder))
      expect(code, said).toBe(0)
      expect(said).toMatch(/^Ran [1-9]\d* tests?/m)
    },
    600_000,
  )
})
