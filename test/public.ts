import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** What the package exports, read from its sources: which name, from which entry, declared where, with which comment. */

export interface PublicName {
  readonly entry: string
  readonly name: string
  /** File of the declaration, relative to src. */
  readonly file: string
  /** Its documentation comment without the stars; empty: it has none. */
  readonly comment: string
}

const src = resolve(import.meta.dirname, '..', 'src')

/** All public names; a name of another package (`z`) has the comment of its export. */
export function publicNames(): PublicName[] {
  const entries = readdirSync(src).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  return entries.flatMap((file) => [...exportsOf(join(src, file))].map(([, found]) => ({ entry: file, ...found })))
}

type Found = Omit<PublicName, 'entry'>

const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm
const LISTED = /^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?/gm
const ALL = /^export (?:type )?\* from '([^']+)'/gm

function exportsOf(path: string): Map<string, Found> {
  const text = readFileSync(path, 'utf8')
  const file = relative(src, path)
  const found = new Map<string, Found>()
  const at = (specifier: string) => join(dirname(path), specifier.replace(/\.js$/, '.ts'))
  for (const [, specifier] of text.matchAll(ALL))
    for (const [name, one] of exportsOf(at(specifier))) found.set(name, one)
  for (const { 0: whole, 1: list, 2: specifier, index } of text.matchAll(LISTED)) {
    const inner = specifier?.startsWith('.') ? exportsOf(at(specifier)) : undefined
    for (const item of list.split(',').map((part) => part.trim().replace(/^type /, ''))) {
      if (item === '') continue
      const [from, name = from] = item.split(' as ')
      const own = { name, file, comment: commentBefore(text, index) }
      found.set(name, specifier?.startsWith('.') ? { ...inner!.get(from)!, name } : (imported(text, from, at) ?? own))
      if (!found.get(name)?.file) throw new Error(`${file}: where is '${from}' of ${whole.slice(0, 60)}?`)
    }
  }
  for (const { 1: name, index } of text.matchAll(DECLARED)) {
    // of overloads the first has the comment
    if (!found.get(name)?.comment) found.set(name, { name, file, comment: commentBefore(text, index) })
  }
  return found
}

/** `export { x }` of something that was imported above. */
function imported(text: string, name: string, at: (specifier: string) => string): Found | undefined {
  for (const [, list, specifier] of text.matchAll(/^import (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm))
    if (list.split(',').some((part) => part.trim().replace(/^type /, '') === name))
      return exportsOf(at(specifier)).get(name)
  return undefined
}

function commentBefore(text: string, index: number): string {
  const before = text.slice(0, index)
  if (!before.endsWith('*/\n')) return ''
  return before
    .slice(before.lastIndexOf('/**') + 3, -'*/\n'.length)
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim()
}

/** Does the comment show how it is used? */
export const hasExample = ({ comment }: PublicName) => /^@example$/m.test(comment)

/** Every program under an `@example` in a comment of src. */
export function examples(): { file: string; index: number; code: string }[] {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.test)\.ts$/.test(name))
  return files.flatMap((file) => {
    const text = readFileSync(join(src, file), 'utf8')
    return [...text.matchAll(/^ *\* @example\n((?: *\*(?!\/| @).*\n)+)/gm)].map(([, code], index) => ({
      file,
      index,
      code: code.replace(/^ *\* ?/gm, ''),
    }))
  })
}
