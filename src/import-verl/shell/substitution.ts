import { expandWord } from './expand.js'
import { plainText, type Token, tokenize, type Word } from './lexer.js'
import { numbers } from './range.js'
import { isOpen, type Variables } from './variables.js'

/** The directory of the script, as in `$(cd "$(dirname "$0")" && pwd)`: paths then are relative to where the user starts. */
const SCRIPT_DIRECTORY = '.'

/**
 * The text of `$(…)`. Nothing is run: a handful of commands whose result follows from their arguments alone are
 * computed, everything else is marked as unknown.
 */
export function substitute(body: string, variables: Variables, line: number, depth: number): string {
  const unknown = () => variables.markUnknown(`$(${body.trim()})`, line)
  const tokens = tokenize(body).filter((token) => !(token.kind === 'op' && token.text === '\n'))
  if (/^\s*cd\b.*\bdirname\b/s.test(body) && /\bpwd\b/.test(body) && /BASH_SOURCE|\$\{?0/.test(body))
    return SCRIPT_DIRECTORY
  if (!tokens.every((token): token is Word => token.kind === 'word')) return unknown()
  const command = plainText(tokens[0] as Token | undefined)
  if (command === undefined || !Object.hasOwn(PURE, command)) return unknown()
  return (
    PURE[command](
      tokens.slice(1).flatMap((word) => expandWord(word, variables, depth)),
      variables,
    ) ?? unknown()
  )
}

const PURE: Record<string, (args: string[], variables: Variables) => string | undefined> = {
  pwd: () => '${oc.env:PWD}',
  whoami: () => '${oc.env:USER}',
  hostname: (args) => (args.length === 0 ? '${oc.env:HOSTNAME}' : undefined),
  echo: (args) => (args[0]?.startsWith('-') ? undefined : args.join(' ')),
  seq: ([first, second, third, ...others]) => {
    if (first === undefined || others.length > 0) return undefined
    if (second === undefined) return numbers('1', first)?.join('\n')
    return (third === undefined ? numbers(first, second) : numbers(first, third, second))?.join('\n')
  },
  realpath: pathArgument,
  readlink: pathArgument,
  basename: (args) => {
    const [path, suffix] = args.filter((arg) => !arg.startsWith('-'))
    const base = path?.replace(/\/+$/, '').split('/').at(-1)
    if (base === undefined || isOpen(base)) return undefined
    return suffix !== undefined && base.endsWith(suffix) && base !== suffix ? base.slice(0, -suffix.length) : base
  },
  dirname: (args, variables) => {
    const path = args.at(-1)?.replace(/\/+$/, '')
    if (path === undefined || (isOpen(path) && !path.includes('/'))) return undefined
    if (path === variables.scriptName) return SCRIPT_DIRECTORY
    const slash = path.lastIndexOf('/')
    return slash < 0 ? '.' : path.slice(0, slash) || '/'
  },
}

function pathArgument(args: string[]): string | undefined {
  const paths = args.filter((arg) => !arg.startsWith('-'))
  return paths.length === 1 ? paths[0] : undefined
}
