import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
)

/** Where a folder that has no index says what it is for. */
const ENTRIES: Readonly<Record<string, string>> = {
  base: 'error.ts',
  machine: 'doctor/examine.ts',
  engine: 'contract.ts',
  dialect: 'chat-model.ts',
  'import-verl': 'import.ts',
  cli: 'program.ts',
}

describe('docs/architecture.md', () => {
  it('names every folder', () => {
    const table = page.slice(page.indexOf('| folder |'), page.indexOf('Files directly in'))
    expect(folders.filter((folder) => !table.includes(`\`${folder}\``))).toEqual([])
  })

  it('names files that are there', () => {
    const paths = [...page.matchAll(/`((?:src|test|python)\/[\w./-]+|[a-z-]+\/[\w./-]+(?:\.ts|\/))`/g)].map(
      ([, path]) => path,
    )
    expect(paths.length).toBeGreaterThan(30)
    const missing = paths.filter((path) => !existsSync(join(root, path)) && !existsSync(join(root, 'src', path)))
    expect(missing.filter((path) => !['entropy/', 'native/'].includes(path))).toEqual([])
  })
})

it('the entry of every folder says what the folder is for', () => {
  const silent = folders.filter((folder) => {
    const entry = readFileSync(join(root, 'src', folder, ENTRIES[folder] ?? 'index.ts'), 'utf8')
    return !/^\/\*\*[\s\S]{40,}?\*\/\n(\n|import)/.test(entry)
  })
  expect(silent).toEqual([])
})
