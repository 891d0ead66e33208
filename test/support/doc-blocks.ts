import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

/** The pages that people read. */
export const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'examples/README.md'],
  ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`),
].filter((page) => page.endsWith('.md'))

/**
 * A block of code of a page. What follows its language says how far a test goes: nothing: it is compiled and run;
 * `no-run: why`: only compiled; `fragment: why`: neither.
 */
export interface DocBlock {
  readonly page: string
  /** Of its first line of code. */
  readonly line: number
  readonly language: string
  readonly mark: 'run' | 'no-run' | 'fragment'
  readonly code: string
}

export function blocksOf(page: string): DocBlock[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^( *)```(\w+)([^\n]*)\n([\s\S]*?)^ *```$/gm)].map((block) => {
    const { 1: indent, 2: language, 3: info, index } = block
    const code = block[4].replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    const line = text.slice(0, index).split('\n').length + 1
    const [, mark = 'run'] = /^ (no-run|fragment): \S.{4,}$/.exec(info) ?? []
    if (info !== '' && mark === 'run') throw new Error(`${page}:${line - 1}: '${info}' says nothing to the tests`)
    return { page, line, language, mark: mark as DocBlock['mark'], code }
  })
}
