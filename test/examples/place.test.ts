import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../support/doc-blocks.js'
import { tempDir } from '../support/temp-dir.js'

it('a script of the examples writes beside itself, but not inside node_modules', async () => {
  const dir = await tempDir()
  const installed = join(dir, 'node_modules/installed/examples')
  await mkdir(join(installed, 'mine'), { recursive: true })
  await symlink(root, join(dir, 'node_modules/trinity-rft'))
  await cp(join(root, 'examples/lib'), join(installed, 'lib'), { recursive: true })
  const script =
    "import { folderOf, trinity } from '../lib/place.mjs'\nconsole.log(folderOf(import.meta.url))\nconsole.log(trinity)"
  await writeFile(join(installed, 'mine/make.mjs'), script)
  const run = (file: string) => spawnSync(process.execPath, [file], { encoding: 'utf8' })

  const refused = run(join(installed, 'mine/make.mjs'))
  expect(refused.status).toBe(2)
  expect(refused.stderr).toContain('cp -r node_modules/trinity-rft/examples .')

  await cp(installed, join(dir, 'examples'), { recursive: true })
  const [folder, trinity] = run(join(dir, 'examples/mine/make.mjs')).stdout.split('\n')
  expect(folder).toBe(join(dir, 'examples/mine'))
  expect(existsSync(trinity)).toBe(true)
})
