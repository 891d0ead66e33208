import { expect, it } from 'vitest'
import { mysqlFunctions } from './mysql-functions.js'

const call = (name: string, ...values: (string | number | null)[]) =>
  mysqlFunctions.find((one) => one.name === name)?.call(...values)

// What MySQL 8 gives.
it.each([
  ['left', ['größe', 3], 'grö'],
  ['left', ['abc', -1], ''],
  ['right', ['abc', 2], 'bc'],
  ['right', ['abc', 0], ''],
  ['char_length', ['😀a'], 2],
  ['reverse', ['abc'], 'cba'],
  ['locate', ['B', 'abcb'], 2],
  ['locate', ['x', 'abc'], 0],
  ['truncate', [1.999, 1], 1.9],
  ['truncate', [-1.999, 1], -1.9],
  ['truncate', [122, -2], 100],
  ['year', ['2004-05-12 10:00:00'], 2004],
  ['month', ['2004-05-12'], 5],
  ['day', ['2004-05-12'], 12],
  ['year', ['spring'], null],
  ['datediff', ['2004-03-01', '2004-02-28'], 2],
  ['datediff', ['2004-03-01', 'x'], null],
  ['greatest', [2, 10, 3], 10],
  ['least', ['b', 'a', 'c'], 'a'],
  ['isnull', [null], 1],
  ['isnull', [0], 0],
  ['ucase', ['a'], 'A'],
  ['lcase', ['A'], 'a'],
  ['pow', [2, 3], 8],
])('%s(%j) is %j', (name, values, result) => {
  expect(call(name, ...values)).toBe(result)
})

it('nothing gives nothing', () => {
  for (const { name, arity, call: run } of mysqlFunctions) {
    if (arity !== 0 && name !== 'isnull')
      expect([name, run(...Array(Math.abs(arity)).fill(null))]).toEqual([name, null])
  }
})
