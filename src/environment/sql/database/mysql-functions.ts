/** Functions of MySQL that SQLite has not, for models that know MySQL. Runs in threads: it imports nothing. */

type Value = string | number | bigint | Uint8Array | null
/** `arity` −1: any number of values. */
export interface SqlFunction {
  readonly name: string
  readonly arity: number
  readonly call: (...values: Value[]) => Value
}

const isNull = (values: readonly Value[]) => values.some((value) => value === null)
/** Most functions of MySQL give nothing for nothing. */
const strict = (name: string, arity: number, call: (...values: Value[]) => Value): SqlFunction => ({
  name,
  arity,
  call: (...values) => (isNull(values) ? null : call(...values)),
})
const count = (value: Value) => Math.max(0, Math.trunc(Number(value)) || 0)
const letters = (value: Value) => Array.from(String(value))

/** A part of a text that begins with a date, as `2004-05-12`. */
function datePart(name: string, from: number, to: number): SqlFunction {
  return strict(name, 1, (value) => {
    const text = String(value)
    return /^\d{4}-\d\d-\d\d/.test(text) ? Number(text.slice(from, to)) : null
  })
}

function days(value: Value): number {
  const found = /^(\d{4})-(\d\d)-(\d\d)/.exec(String(value))
  return found ? Date.UTC(Number(found[1]), Number(found[2]) - 1, Number(found[3])) / 86_400_000 : Number.NaN
}

function extreme(name: string, isBetter: (a: Value, b: Value) => boolean): SqlFunction {
  return strict(name, -1, (...values) => values.reduce((best, value) => (isBetter(value, best) ? value : best)))
}

const rounded = (value: Value, digits: Value) => {
  const power = 10 ** Math.trunc(Number(digits))
  return Math.trunc(Number(value) * power) / power
}

export const mysqlFunctions: readonly SqlFunction[] = [
  strict('left', 2, (text, length) => letters(text).slice(0, count(length)).join('')),
  strict('right', 2, (text, length) => (count(length) === 0 ? '' : letters(text).slice(-count(length)).join(''))),
  strict('lcase', 1, (text) => String(text).toLowerCase()),
  strict('ucase', 1, (text) => String(text).toUpperCase()),
  strict('char_length', 1, (text) => letters(text).length),
  strict('reverse', 1, (text) => letters(text).reverse().join('')),
  strict('locate', 2, (part, text) => String(text).toLowerCase().indexOf(String(part).toLowerCase()) + 1),
  strict('truncate', 2, rounded),
  strict('pow', 2, (base, power) => Number(base) ** Number(power)),
  strict('datediff', 2, (a, b) => (Number.isNaN(days(a) - days(b)) ? null : days(a) - days(b))),
  { name: 'isnull', arity: 1, call: (value) => (value === null ? 1 : 0) },
  datePart('year', 0, 4),
  datePart('month', 5, 7),
  datePart('day', 8, 10),
  extreme('greatest', (a, b) => (a as number) > (b as number)),
  extreme('least', (a, b) => (a as number) < (b as number)),
  { name: 'now', arity: 0, call: () => new Date().toISOString().slice(0, 19).replace('T', ' ') },
  { name: 'curdate', arity: 0, call: () => new Date().toISOString().slice(0, 10) },
]
