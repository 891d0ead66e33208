import { statementsOf, tokensOf } from '../tokens.js'

/** A statement for SQLite, nothing where there is nothing to do, or why it is not run. */
export type Understood = { readonly sql?: string } | { readonly error: string }

const MOST_CHARACTERS = 50_000
const NAMES = "name NOT LIKE 'sqlite~_%' ESCAPE '~'"
const TABLE = String.raw`(?:[\`"]?\w+[\`"]?\s*\.\s*)?[\`"]?(\w+)[\`"]?`

/** What models that know MySQL ask to look around, in the words of SQLite, with the columns that MySQL gives. */
const MYSQL: readonly (readonly [RegExp, (name: string, database: string) => string])[] = [
  [
    /^show\s+(?:full\s+)?tables(?:\s+(?:from|in)\s+\S+)?$/i,
    () => `SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND ${NAMES} ORDER BY name`,
  ],
  [/^show\s+databases$/i, (_, database) => `SELECT ${quoted(database)}`],
  [
    new RegExp(String.raw`^(?:desc|describe|explain|show\s+(?:full\s+)?columns\s+(?:from|in))\s+${TABLE}$`, 'i'),
    (table) =>
      `SELECT name, type, iif("notnull", 'NO', 'YES'), iif(pk, 'PRI', ''), dflt_value, '' FROM pragma_table_info(${quoted(table)})`,
  ],
  [
    new RegExp(String.raw`^show\s+create\s+table\s+${TABLE}$`, 'i'),
    (table) => `SELECT name, sql FROM sqlite_master WHERE lower(name) = lower(${quoted(table)})`,
  ],
]

/** Takes one statement in the words of SQLite, or some of MySQL's. */
export function understand(text: string, database: string): Understood {
  if (text.length > MOST_CHARACTERS) return { error: `it is longer than ${MOST_CHARACTERS} characters` }
  // Nothing behind it is read by SQLite.
  if (text.includes('\0')) return { error: 'it holds a character that is no text' }
  const [statement, ...more] = statementsOf(tokensOf(text))
  if (statement === undefined) return { error: 'there is no statement' }
  if (more.length > 0) return { error: 'one statement at a time' }
  const sql = statement
    .map((token) => token.text)
    .join('')
    .trim()
  const used = /^use\s+[`"]?([\w.-]+)[`"]?$/i.exec(sql)?.[1]
  if (used !== undefined) return used === database ? {} : { error: `Unknown database '${used}'` }
  for (const [pattern, translate] of MYSQL) {
    const found = pattern.exec(sql)
    if (found) return { sql: translate(found[1] ?? '', database) }
  }
  return { sql }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
