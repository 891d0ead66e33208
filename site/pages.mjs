// The pages of the site: what is in docs/, the README as the first one, and whatever those point to.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, posix } from 'node:path'

const LANGUAGES = {
  '.mjs': 'js',
  '.js': 'js',
  '.ts': 'ts',
  '.py': 'python',
  '.yaml': 'yaml',
  '.json': 'json',
  '.jsonl': 'json',
}
/** Of a folder, what is shown and not only named. */
const SHOWN = /\.(ts|mjs|py|yaml)$/
const LARGEST = 64_000
const NOT_SHOWN = /^(?:made|checkpoints|node_modules|__pycache__)$/

/** The page of a file or folder of the repository, relative to the pages. */
export function pageOf(path, isFolder = false) {
  if (isFolder) return `code/${path}/index.md`
  if (!path.endsWith('.md')) return `code/${path}.md`
  if (path === 'README.md') return 'index.md'
  if (path === 'CONTRIBUTING.md') return 'contributing.md'
  return path.replace(/^docs\//, '').replace(/README\.md$/, 'index.md')
}

/** Writes the pages of `root` into `out`. */
export function writePages(root, out) {
  const waiting = ['README.md', ...markdownBelow(root, 'docs')]
  const seen = new Set(waiting)
  const write = (page, text) => {
    mkdirSync(dirname(join(out, page)), { recursive: true })
    writeFileSync(join(out, page), text)
  }
  /** Where `page` finds what the repository has at `path`; it is written, too. */
  const address = (page, path) => {
    const place = join(root, path)
    if (!existsSync(place)) throw new Error(`${page} points to ${path}, which is not there`)
    if (/\.(png|svg)$/.test(path)) {
      const image = path.replace(/^docs\//, '')
      mkdirSync(dirname(join(out, image)), { recursive: true })
      copyFileSync(place, join(out, image))
      return relativeTo(page, image)
    }
    if (!seen.has(path)) {
      seen.add(path)
      waiting.push(path)
    }
    return relativeTo(page, pageOf(path, statSync(place).isDirectory()))
  }
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const folder = statSync(join(root, path)).isDirectory()
    const page = pageOf(path, folder)
    if (folder) write(page, folderPage(root, path))
    else if (path.endsWith('.md'))
      write(
        page,
        textPage(root, path, (target) => address(page, target)),
      )
    else write(page, codePage(root, path))
  }
}

const relativeTo = (page, target) =>
  posix.join('.', posix.relative(posix.dirname(page), target)).replace(/^(?!\.)/, './')

function markdownBelow(root, folder) {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.md')).map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
}

/** A page as it is, with its links pointing to pages here. What follows the language of a block is for the tests. */
function textPage(root, path, address) {
  const text = readFileSync(join(root, path), 'utf8')
  const parts = text.split(/(^ *```[\s\S]*?^ *```$)/m).map((part, i) =>
    i % 2 === 1
      ? part.replace(/^( *```\w+) [^\n]*/, '$1')
      : part
          .replace(/<!--[\s\S]*?-->\n*/g, '')
          .replace(/\]\((?!\w+:|#)([^)#\s]+)(#[^)]*)?\)/g, (_, target, anchor = '') => {
            return `](${address(posix.join(posix.dirname(path), target).replace(/\/$/, ''))}${anchor})`
          }),
  )
  const body = parts.join('')
  // its title and first sentence are in what the first page begins with
  return path === 'README.md' ? HOME + body.replace(/^# .*\n\n.*\n/, '') : body
}

/** Of no use to a search: the pages say what it is for. */
const UNSEARCHED = '---\nsearch: false\n---\n\n'

const codePage = (root, path) => `${UNSEARCHED}# ${basename(path)}\n\n\`${path}\`\n\n${codeBlock(root, path)}`

/** What is directly in a folder: its files in full, except for long ones and data. */
function folderPage(root, path) {
  const entries = readdirSync(join(root, path), { withFileTypes: true }).filter(({ name }) => !NOT_SHOWN.test(name))
  const isShown = (name) => SHOWN.test(name) && statSync(join(root, path, name)).size < LARGEST
  const list = entries.map((entry) => `- \`${entry.name}${entry.isDirectory() ? '/' : ''}\``)
  const files = entries.filter((entry) => entry.isFile() && isShown(entry.name))
  const blocks = files.map(({ name }) => `## ${name}\n\n${codeBlock(root, `${path}/${name}`)}`)
  return `${UNSEARCHED}# ${path}\n\n${list.join('\n')}\n\n${blocks.join('\n')}`
}

function codeBlock(root, path) {
  const text = readFileSync(join(root, path), 'utf8').trimEnd()
  return `\`\`\`\`${LANGUAGES[extname(path)] ?? ''}\n${text}\n\`\`\`\`\n`
}

const HOME = `---
layout: home
title: Trinity
titleTemplate: reinforcement fine-tuning in TypeScript
hero:
  name: Trinity
  text: Agents that learn
  tagline: Reinforcement fine-tuning of language models, in TypeScript. First on a laptop's CPU, then unchanged on GPUs.
  actions:
    - { theme: brand, text: Quick start, link: ./quickstart }
    - { theme: alt, text: An agent of your own, link: ./agents }
    - { theme: alt, text: Questions, link: ./faq }
---
`
