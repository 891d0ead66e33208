import { isVoid, statementsOf, type Token, tokensOf } from './tokens.js'

/** What a backslash and a letter mean in a text of MySQL; any other letter means itself. */
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', Z: '\x1a', '0': '' }
/** Parts of a table that begin with these words are no columns. */
const KEYS = new Set(['primary', 'unique', 'key', 'index', 'constraint', 'fulltext', 'spatial', 'foreign', 'check'])

/**
 * The databases of a dump that `mysqldump` wrote, each as SQL of SQLite: tables with their columns, types and primary
 * keys, and their rows. Texts compare without regard to capitals, as in MySQL.
 */
export function databasesOf(dump: string): Map<string, string> {
  const databases = new Map<string, string[]>()
  let current: string[] = []
  for (const statement of statementsOf(tokensOf(dump, 'mysql'))) {
    const parts = statement.filter((token) => !isVoid(token))
    const [verb = '', what = ''] = parts.map(({ text }) => text.toLowerCase())
    if (verb === 'use') {
      const name = nameOf(parts[1])
      current = databases.get(name) ?? []
      databases.set(name, current)
    } else if (verb === 'create' && what === 'table') current.push(tableOf(parts))
    else if (verb === 'insert' || verb === 'replace') {
      const isCharset = ({ text }: Token, i: number) => /^_\w+$/.test(text) && parts[i + 1]?.kind === 'text'
      current.push(
        `${parts
          .filter((part, i) => !isCharset(part, i))
          .map(written)
          .join(' ')};`,
      )
    }
  }
  const filled = [...databases].filter(([, lines]) => lines.length > 0)
  return new Map(filled.map(([name, lines]) => [name, `${lines.join('\n')}\n`]))
}

/** `CREATE TABLE name (parts) options` without options, and without keys but the primary one. */
function tableOf(parts: readonly Token[]): string {
  const open = parts.findIndex(({ text }) => text === '(')
  const name = parts[open - 1]
  const items = listOf(parts.slice(open))
  const columns = items.filter(([first]) => first?.kind === 'name' || !KEYS.has(first?.text.toLowerCase() ?? ''))
  const primary = items.find(([first]) => first?.kind === 'word' && first.text.toLowerCase() === 'primary')
  const key =
    primary && listOf(primary.slice(primary.findIndex(({ text }) => text === '('))).map(([one]) => written(one))
  const lines = [...columns.map(columnOf), ...(key ? [`PRIMARY KEY (${key.join(', ')})`] : [])]
  return `CREATE TABLE ${written(name)} (\n  ${lines.join(',\n  ')}\n);`
}

/** A column's name and type, and whether it must have a value. */
function columnOf([name, type, ...rest]: readonly Token[]): string {
  const word = type?.text.toLowerCase() ?? 'text'
  const size = rest[0]?.text === '(' && /char|decimal|int|binary/.test(word) ? sizeOf(rest) : ''
  const isText = /char|text|enum|set/.test(word)
  const declared = /^(?:enum|set)$/.test(word) ? 'text' : word
  const words = rest.map(({ text }) => text.toLowerCase())
  const isNeeded = words.some((one, i) => one === 'not' && words[i + 1] === 'null')
  return `${written(name)} ${declared}${size}${isText ? ' COLLATE NOCASE' : ''}${isNeeded ? ' NOT NULL' : ''}`
}

function sizeOf(rest: readonly Token[]): string {
  const end = rest.findIndex(({ text }) => text === ')')
  return rest
    .slice(0, end + 1)
    .map(({ text }) => text)
    .join('')
}

/** What stands between the bracket that comes first and the one that closes it, apart by its commas. */
function listOf(tokens: readonly Token[]): Token[][] {
  const items: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (token.text === ')' && token.kind === 'sign' && --depth === 0) break
    if (depth === 1 && token.text === ',' && token.kind === 'sign') items.push([])
    else if (depth > 0) items.at(-1)?.push(token)
    if (token.text === '(' && token.kind === 'sign') depth++
  }
  return items.filter((item) => item.length > 0)
}

/** A part as SQLite reads it. */
function written(token: Token | undefined): string {
  if (token === undefined) return ''
  if (token.kind === 'name') return `"${nameOf(token).replaceAll('"', '""')}"`
  return token.kind === 'text' ? `'${textOf(token.text).replaceAll("'", "''")}'` : token.text
}

function nameOf(token: Token | undefined): string {
  return token?.kind === 'name' ? token.text.slice(1, -1) : (token?.text ?? '')
}

/** What a quoted text of MySQL says. */
function textOf(quoted: string): string {
  const mark = quoted[0]
  return quoted
    .slice(1, -1)
    .replace(/\\([\s\S])|(['"])\2/g, (all, letter?: string, twice?: string) =>
      letter === undefined ? (twice === mark ? twice : all) : (ESCAPES[letter] ?? letter),
    )
}
