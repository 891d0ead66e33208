const SUM = /^\s*(-?\d+(?:\.\d+)?)\s*([-+*/])\s*(-?\d+(?:\.\d+)?)\s*$/

/** The value of a sum of two numbers, as text; what else is asked is told so. */
export function calculate(expression) {
  const [, a, sign, b] = SUM.exec(expression) ?? []
  if (sign === undefined) return 'write two numbers with + - * or / between them'
  const value = { '+': (x, y) => x + y, '-': (x, y) => x - y, '*': (x, y) => x * y, '/': (x, y) => x / y }[sign]
  return String(Math.round(value(Number(a), Number(b)) * 1e6) / 1e6)
}
