import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'

const dist = resolve(import.meta.dirname, '..', 'dist')

it.skipIf(!existsSync(join(dist, 'plugin', 'index.js')))(
  'the built package loads a TypeScript plugin into itself without a warning (skipped: dist/ is not built)',
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'trinity-test-'))
    try {
      const plugin = `import { selectors, type Row } from 'trinity-rft'
selectors.add('mine', { ...selectors.get('random'), doc: 'made by a plugin' as string })\n`
      await writeFile(join(dir, 'mine.ts'), plugin)
      const module = (name: string) => JSON.stringify(pathToFileURL(join(dist, name, 'index.js')).href)
      const script = `import * as task from ${module('task')}
import { loadPlugins } from ${module('plugin')}
await loadPlugins([${JSON.stringify(dir)}], task)
console.log(task.selectors.get('mine').doc)`
      const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
        encoding: 'utf8',
      })
      expect({ stdout, stderr }).toEqual({ stdout: 'made by a plugin\n', stderr: '' })
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  },
)
