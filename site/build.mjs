// Builds the documentation site into site/dist: pages from docs/, the API reference from the types, then VitePress.
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vitepress'
import { writeApi } from './api.mjs'
import { brokenLinks } from './links.mjs'
import { writePages } from './pages.mjs'

const site = dirname(fileURLToPath(import.meta.url))
const root = join(site, '..')
const pages = join(site, '.pages')

rmSync(pages, { recursive: true, force: true })
writePages(root, pages)
const entries = writeApi(root, join(pages, 'api'))
console.log(`API: ${entries.reduce((sum, { names }) => sum + names.length, 0)} exports of ${entries.length} entries`)
await build(site)
const broken = brokenLinks(join(site, 'dist'), process.env.SITE_BASE ?? '/')
if (broken.length > 0) {
  console.error(`broken links:\n${broken.join('\n')}`)
  process.exitCode = 1
}
