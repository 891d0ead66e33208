// Checks the built site: every link and every anchor leads somewhere, and nothing is loaded from elsewhere.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** What is wrong with the pages below `folder`, served at `base`. */
export function brokenLinks(folder, base) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'))
  const texts = new Map(files.map((file) => [join(folder, file), readFileSync(join(folder, file), 'utf8')]))
  const broken = []
  for (const [file, text] of texts) {
    for (const [, tag, attribute, value] of text.matchAll(/<(\w+)[^>]*? (href|src)="([^"]*)"/g)) {
      const problem = problemOf(tag, attribute, value.replaceAll('&amp;', '&'))
      if (problem) broken.push(`${file.slice(folder.length + 1)}: ${value} ${problem}`)
    }

    function problemOf(tag, attribute, value) {
      if (/^(?:https?:)?\/\//.test(value))
        return tag === 'a' && attribute === 'href' ? undefined : 'is loaded from elsewhere'
      if (/^(?:data|mailto):/.test(value)) return undefined
      const [path, anchor] = value.split('#')
      const target =
        path === ''
          ? file
          : path.startsWith(base)
            ? join(folder, path.slice(base.length))
            : resolve(dirname(file), path)
      const page = [target, `${target}.html`, join(target, 'index.html')].find(
        (one) => existsSync(one) && (texts.has(one) || !one.endsWith('/')),
      )
      if (page === undefined) return 'is not there'
      if (!anchor || !texts.has(page)) return undefined
      return texts.get(page).includes(`id="${decodeURIComponent(anchor)}"`) ? undefined : 'has no such heading'
    }
  }
  return [...new Set(broken)]
}
