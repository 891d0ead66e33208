import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './support/doc-blocks.js'

/** What building the site would find, without building it. */

const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.replaceAll('\\', '/'))
const read = (page: string) => readFileSync(join(root, page), 'utf8')

/** The anchors of a page, as GitHub and the site make them. */
function anchorsOf(page: string): string[] {
  const text = read(page).replace(/^ *```[\s\S]*?^ *```$/gm, '')
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  )
}

describe('the site', () => {
  it('has every page in its sidebar, once', () => {
    const groups = JSON.parse(read('site/groups.json')) as { pages: string[] }[]
    const elsewhere = ['examples/index', 'contributing', 'api/index']
    const named = groups.flatMap(({ pages }) => pages).filter((page) => !elsewhere.includes(page))
    expect(named.sort()).toEqual(docs.map((file) => file.replace(/\.md$/, '')).sort())
  })

  it('has the headings that its links name', () => {
    const pages = ['README.md', 'CONTRIBUTING.md', 'examples/README.md', ...docs.map((file) => `docs/${file}`)]
    const links = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!\w+:)([^)#\s]*)#([^)\s]+)\)/g)].map(([, path, anchor]) => ({
        page,
        target: path === '' ? page : posix.join(posix.dirname(page), path),
        anchor,
      })),
    )
    expect(links.length).toBeGreaterThan(30)
    expect(links.filter(({ target, anchor }) => !anchorsOf(target).includes(anchor))).toEqual([])
  })
})
