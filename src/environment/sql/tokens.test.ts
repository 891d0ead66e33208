import fc from 'fast-check'
import { expect, it } from 'vitest'
import { statementsOf, tokensOf } from './tokens.js'

const piece = fc.constantFrom(
  ...[
    "'",
    '"',
    '`',
    '[',
    ']',
    '--',
    '/*',
    '*/',
    '\n',
    ';',
    '\\',
    ' ',
    'a',
    '1',
    '(',
    ',',
    'é',
    '😀',
    "''",
    '/',
    '*',
    '-',
  ],
)

it('takes any text apart without losing a character', () => {
  fc.assert(
    fc.property(fc.array(piece), fc.constantFrom('sqlite' as const, 'mysql' as const), (parts, dialect) => {
      const sql = parts.join('')
      expect([...tokensOf(sql, dialect)].map(({ text }) => text).join('')).toBe(sql)
    }),
  )
})

it('semicolons in texts, names and comments end nothing', () => {
  const texts = (sql: string, dialect?: 'mysql') =>
    [...statementsOf(tokensOf(sql, dialect))].map((statement) => statement.map(({ text }) => text).join(''))
  expect(texts(`SELECT ';', ";" FROM \`;\` -- ;\n WHERE [;] /* ; */ = 1; ; SELECT 'it''s;'`)).toEqual([
    `SELECT ';', ";" FROM \`;\` -- ;\n WHERE [;] /* ; */ = 1`,
    "SELECT 'it''s;'",
  ])
  expect(texts(`SELECT 'a\\';' ; SELECT 2`, 'mysql')).toEqual([`SELECT 'a\\';' `, 'SELECT 2'])
  expect(texts(' -- nothing\n ;/* here */')).toEqual([])
})
