import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { loadPlugins } from './plugin.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-test-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** As in package.json: `.`, `./engine`, … */
const entries = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => (file === 'index.ts' ? '.' : `./${file.slice(0, -'.ts'.length)}`))
  .sort()

it('every file directly in src is an entry of the package, with types', () => {
  const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const { './package.json': _, ...own } = exports
  expect(Object.keys(own).sort()).toEqual(entries)
  for (const entry of entries) {
    const built = `./dist/${entry === '.' ? 'index' : entry.slice(2)}`
    expect(own[entry]).toEqual({ types: `${built}.d.ts`, default: `${built}.js` })
  }
})

it('a plugin gets every entry, and each has names of its own', async () => {
  const imports = entries.map((entry, i) => `import * as e${i} from 'trinity-rft${entry.slice(1)}'`)
  const all = entries.map((entry, i) => `${JSON.stringify(entry)}: e${i}`)
  const plugin = `${imports.join('\n')}\nglobalThis.trinityEntries = { ${all.join(', ')} }\n`
  writeFileSync(join(dir, 'all.ts'), plugin)
  expect(await loadPlugins([dir])).toEqual([{ name: 'all', file: join(dir, 'all.ts') }])
  const got = (globalThis as unknown as { trinityEntries: Record<string, object> }).trinityEntries
  for (const entry of entries) {
    const own = await import(/* @vite-ignore */ entry === '.' ? './index.js' : `${entry}.js`)
    expect({ ...got[entry] }).toEqual({ ...own })
  }
  const names = entries.flatMap((entry) => Object.keys(got[entry]))
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
})
