import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const site = join(dirname(fileURLToPath(import.meta.url)), '..')
const pages = join(site, '.pages')
const groups = JSON.parse(readFileSync(join(site, 'groups.json'), 'utf8'))

/** The first heading, without marks. */
const titleOf = (page) => /^# (.*)$/m.exec(readFileSync(join(pages, `${page}.md`), 'utf8'))[1].replaceAll('`', '')

function itemOf(page) {
  if (!existsSync(join(pages, `${page}.md`))) throw new Error(`groups.json names '${page}', which is no page`)
  const item = { text: titleOf(page), link: `/${page.replace(/index$/, '')}` }
  return page === 'api/index' ? { ...item, collapsed: true, items: entries() } : item
}

const entries = () =>
  readdirSync(join(pages, 'api'))
    .filter((file) => file !== 'index.md')
    .map((file) => file.replace(/\.md$/, ''))
    .sort((a, b) => Number(b === 'trinity-rft') - Number(a === 'trinity-rft') || a.localeCompare(b))
    .map((page) => ({ text: titleOf(`api/${page}`), link: `/api/${page}` }))

/** Anchors as GitHub makes them, so that one link works in both places. */
const slugify = (text) =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .replace(/\s/g, '-')

/** Tags and braces of a page are text, as everywhere else: VitePress would hand them to Vue. */
function asText(markdown) {
  markdown.set({ html: false })
  const { text } = markdown.renderer.rules
  markdown.renderer.rules.text = (...args) => text(...args).replaceAll('{{', '&#123;&#123;')
}

export default defineConfig({
  lang: 'en-US',
  title: 'Trinity',
  description: 'Reinforcement fine-tuning of language models and agents, in TypeScript',
  base: process.env.SITE_BASE ?? '/',
  srcDir: '.pages',
  outDir: 'dist',
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    headers: { slugify },
    config: asText,
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: groups.map(({ text, pages }) => ({ text, collapsed: false, items: pages.map(itemOf) })),
    nav: [
      { text: 'Quick start', link: '/quickstart' },
      { text: 'Configuration', link: '/configuration' },
      { text: 'API', link: '/api/' },
      { text: 'Questions', link: '/faq' },
    ],
    outline: [2, 3],
    docFooter: { prev: 'Before', next: 'Next' },
  },
})
