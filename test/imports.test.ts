import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const src = fileURLToPath(new URL('../src/', import.meta.url))

/**
 * The folders of src, from the ground up. A file imports from its own folder and from folders before it in this list,
 * types included; docs/architecture.md says what each folder is for.
 */
const ORDER = [
  ...['base', 'plugin', 'machine', 'config', 'model', 'hub', 'grammar', 'graph'],
  ...['task', 'reward', 'environment', 'dataset', 'engine', 'experience', 'dialect', 'gateway'],
  ...['buffer', 'pipeline', 'algorithm', 'monitor', 'workflow', 'checkpoint', 'synchronizer'],
  ...[
    'explorer',
    'serve',
    'trainer',
    'run',
    'perf',
    'sweep',
    'benchmark',
    'play',
    'chat',
    'import-verl',
    'convert',
    'init',
    'studio',
    'cli',
    'testing',
  ],
]

/** Files beside the folders are the package's entries: they may import everything. */
const ENTRY = ORDER.length

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

function folderOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : ''
}

function level(file: string): number {
  const folder = folderOf(file)
  return folder === '' ? ENTRY : ORDER.indexOf(folder)
}

/** Static and dynamic imports and re-exports of other files of src. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8')
  return [...text.matchAll(/(?:from\s+|import\s*\(\s*|import\s+)['"](\.{1,2}\/[^'"]+)['"]/g)]
    .map(([, specifier]) => normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts'))
    .filter((target) => !relative('.', target).startsWith('..'))
}

describe('imports between the folders of src', () => {
  it('every folder has its place in the order', () => {
    const folders = new Set(files.map(folderOf).filter((folder) => folder !== ''))
    expect([...folders].filter((folder) => !ORDER.includes(folder))).toEqual([])
    expect(ORDER.filter((folder) => !folders.has(folder))).toEqual([])
  })

  it('they point one way', () => {
    const back = files
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) =>
        importsOf(file).flatMap((target) => (level(target) > level(file) ? [`${file} imports ${target}`] : [])),
      )
    expect(back).toEqual([])
  })

  it('reads the imports at all', () => {
    expect(importsOf('run/catalog.ts')).toContain('config/index.ts')
  })
})
