import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { torchTestPython } from '../support/python.js'

/** The Python half's own tests, a process for each file. */

const python = torchTestPython()
const root = resolve(import.meta.dirname, '../../python')
const modules = readdirSync(join(root, 'tests'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /(^|[/\\])test_\w+\.py$/.test(path))
  .map((path) => `tests.${path.slice(0, -3).replace(/[/\\]/g, '.')}`)
  .sort()

function run(module: string): Promise<{ code: number | null; said: string }> {
  return new Promise((done) => {
    // small models: several threads wait for each other longer than they compute
    const env = { OMP_NUM_THREADS: '1', ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
    const child = spawn(python.path, ['-m', 'unittest', '-b', module], { cwd: root, env })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
    child.on('close', (code) => done({ code, said }))
  })
}

describe.skipIf(python.absent)(`trinity_torch${python.note}`, () => {
  it.each(modules)(
    '%s',
    async (module) => {
      const { code, said } = await run(module)
      expect(code, said).toBe(0)
      expect(said).toMatch(/^Ran \d+ tests?/m)
    },
    300_000,
  )
})
