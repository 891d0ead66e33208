/** SQL in its smallest parts. Joined, their texts are the SQL. */
export interface Token {
  readonly kind: 'blank' | 'comment' | 'text' | 'name' | 'word' | 'sign'
  readonly text: string
}

const COMMON = String.raw`(?<blank>\s+)|(?<comment>--[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|$))`
const REST = String.raw`(?<word>[\p{L}\p{N}_$@.]+)|(?<sign>[\s\S])`
/** SQLite, where anything may be quoted by double quotes. */
const SQLITE = new RegExp(
  String.raw`${COMMON}|(?<text>'(?:[^']|'')*(?:'|$))|(?<name>"(?:[^"]|"")*(?:"|$)|\x60[^\x60]*(?:\x60|$)|\[[^\]]*(?:\]|$))|${REST}`,
  'guy',
)
/** MySQL, where double quotes hold texts and a backslash escapes. */
const MYSQL = new RegExp(
  String.raw`${COMMON}|(?<text>'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)|"(?:[^"\\]|\\[\s\S]|"")*(?:"|$))|(?<name>\x60[^\x60]*(?:\x60|$))|${REST}`,
  'guy',
)

export function* tokensOf(sql: string, dialect: 'sqlite' | 'mysql' = 'sqlite'): Iterable<Token> {
  const pattern = new RegExp(dialect === 'mysql' ? MYSQL : SQLITE)
  for (let found = pattern.exec(sql); found !== null; found = pattern.exec(sql)) {
    const [kind, text] = Object.entries(found.groups ?? {}).find(([, part]) => part !== undefined) as [string, string]
    yield { kind: kind as Token['kind'], text }
  }
}

/** Statements, as tokens without blanks and comments around them; empty ones are left out. */
export function* statementsOf(tokens: Iterable<Token>): Iterable<Token[]> {
  let statement: Token[] = []
  for (const token of tokens) {
    if (token.kind === 'sign' && token.text === ';') {
      if (statement.length > 0) yield statement
      statement = []
    } else if (statement.length > 0 || !isVoid(token)) statement.push(token)
  }
  if (statement.length > 0) yield statement
}

export function isVoid({ kind }: Token): boolean {
  return kind === 'blank' || kind === 'comment'
}
