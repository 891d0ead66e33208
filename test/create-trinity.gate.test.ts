import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from './support/temp-dir.js'

/** `npm create trinity`: a package that is nothing but another name of `trinity init`. */

const root = resolve(import.meta.dirname, '..')
const folder = join(root, 'packages/create-trinity')
const manifestOf = (dir: string) => JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
const [own, whole] = [manifestOf(folder), manifestOf(root)]

it('has the version of the package that it starts, and ships what it needs', () => {
  expect(own.version).toBe(whole.version)
  expect(own.dependencies).toEqual({ 'trinity-rft': whole.version })
  expect(own.engines).toEqual(whole.engines)
  for (const file of [...own.files, ...Object.values<string>(own.bin)])
    expect(existsSync(join(folder, file))).toBe(true)
})

it('writes the project that trinity init writes', async () => {
  const dir = await tempDir()
  await mkdir(join(dir, 'node_modules'))
  await cp(folder, join(dir, 'node_modules/create-trinity'), { recursive: true })
  await symlink(root, join(dir, 'node_modules/trinity-rft'))
  const create = (...words: string[]) =>
    spawnSync(process.execPath, ['node_modules/create-trinity/create.js', ...words], { cwd: dir, encoding: 'utf8' })
  const made = create('mine', '--have', 'agent', '--sdk', 'none')
  expect({ code: made.status, stderr: made.stderr }).toEqual({ code: 0, stderr: '' })
  expect(made.stdout).toContain('cd mine')
  expect(readdirSync(join(dir, 'mine'))).toEqual(
    expect.arrayContaining(['agent.ts', 'grade.ts', 'trinity.yaml', 'tasks']),
  )
  const again = create('mine')
  expect(again.status).toBe(2)
  expect(again.stderr).toContain('already')
})
