import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { extname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Rules of the house that a person would otherwise have to remember. */

const root = resolve(import.meta.dirname, '..')
const git = existsSync(join(root, '.git'))
/** What is or will be committed, that still exists. */
const files = git
  ? execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
      cwd: root,
      encoding: 'utf8',
    })
      .split('\0')
      .filter((path) => path !== '' && existsSync(join(root, path)) && statSync(join(root, path)).isFile())
  : []
const TEXT = new Set([
  '.ts',
  '.mjs',
  '.js',
  '.json',
  '.md',
  '.yaml',
  '.yml',
  '.sh',
  '.py',
  '.cpp',
  '.h',
  '.html',
  '.css',
  '',
])
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const sources = files.filter((path) => /\.(ts|mjs|js|py|cpp|h)$/.test(path))

describe.skipIf(!git)('the repository (skipped outside a git checkout)', () => {
  it('names no place of one machine', () => {
    // written in pieces, so that this file is not its own first finding
    const place = new RegExp(
      [
        ['/wo', 'rk/'],
        ['/ro', 'ot/'],
        ['/Us', 'ers/[a-z]'],
      ]
        .map((parts) => parts.join(''))
        .join('|'),
    )
    const found = files
      .filter((path) => TEXT.has(extname(path)))
      .flatMap((path) =>
        read(path)
          .split('\n')
          .flatMap((line, i) => (place.test(line) ? [`${path}:${i + 1}: ${line.trim().slice(0, 120)}`] : [])),
      )
    expect(found).toEqual([])
  })

  it('has no file that is too long to read', () => {
    const long = sources
      .map((path) => ({ path, lines: read(path).split('\n').length - 1 }))
      .filter(({ lines }) => lines > 500)
    expect(long).toEqual([])
  })

  it('holds no large file', () => {
    const large = files.filter((path) => statSync(join(root, path)).size > 1_000_000)
    expect(large).toEqual([])
  })

  it('says of each dependency why it is there', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
    const { dependencies, optionalDependencies, devDependencies } = manifest
    const names = [dependencies, optionalDependencies, devDependencies].flatMap((list) => Object.keys(list))
    const listed = [...read('docs/dependencies.md').matchAll(/^- `(\S+)`: .{20,}$/gm)].map((match) => match[1])
    expect(listed.filter((name) => !names.includes(name))).toEqual([])
    expect(names.filter((name) => !listed.includes(name))).toEqual([])
  })

  it('links only to documents that exist', () => {
    const broken = files
      .filter((path) => path.endsWith('.md'))
      .flatMap((path) =>
        [...read(path).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)/g)]
          .map((match) => match[1])
          .filter((target) => !existsSync(resolve(root, path, '..', target)))
          .map((target) => `${path}: ${target}`),
      )
    expect(broken).toEqual([])
  })

  it('creates folders only with makeFolder', () => {
    // Node's recursive mkdir tries again forever below /proc.
    const product = sources.filter((path) => /^(src|packages)\//.test(path) && !/\.(test|fixture)\.ts$/.test(path))
    const found = product.filter((path) => /\bmkdir(?:Sync)?\([^\n]*recursive: true/.test(read(path)))
    expect(product.length).toBeGreaterThan(500)
    expect(found).toEqual([])
  })

  it('leaves no test switched off', () => {
    const off = sources
      .filter((path) => path.endsWith('.test.ts'))
      .filter((path) => /\b(?:it|test|describe)\.(?:only|todo|skip)\(/.test(read(path)))
    expect(off).toEqual([])
  })
})
