/** The value of `$((…))`, or undefined when it cannot be known (a name without a number, a division by zero). */
export function evaluateArithmetic(text: string, lookup: (name: string) => string | undefined): number | undefined {
  try {
    const reader = new Reader(text.match(TOKEN) ?? [], lookup)
    const value = reader.ternary()
    return reader.done() && Number.isSafeInteger(value) ? value : undefined
  } catch (error) {
    if (error instanceof NotKnown) return undefined
    throw error
  }
}

class NotKnown extends Error {}

const TOKEN = /\s+|0[xX][0-9a-fA-F]+|\d+|\$?\{?[A-Za-z_]\w*\}?|\*\*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%()<>!~&|^?:,=]|./g
const LEVELS: string[][] = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<', '>', '<=', '>='],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
]
const MAX_DEPTH = 100

class Reader {
  #at = 0
  #depth = 0
  readonly #tokens: string[]
  readonly #lookup: (name: string) => string | undefined

  constructor(tokens: string[], lookup: (name: string) => string | undefined) {
    this.#tokens = tokens.filter((token) => token.trim() !== '')
    this.#lookup = lookup
  }

  done(): boolean {
    return this.#at >= this.#tokens.length
  }

  ternary(): number {
    if (++this.#depth > MAX_DEPTH) throw new NotKnown()
    const condition = this.#binary(0)
    let value = condition
    if (this.#take('?')) {
      const yes = this.ternary()
      if (!this.#take(':')) throw new NotKnown()
      const no = this.ternary()
      value = condition !== 0 ? yes : no
    }
    this.#depth--
    return value
  }

  #binary(level: number): number {
    if (level === LEVELS.length) return this.#power()
    let left = this.#binary(level + 1)
    for (;;) {
      const operator = LEVELS[level].find((op) => this.#tokens[this.#at] === op)
      if (operator === undefined) return left
      this.#at++
      left = apply(operator, left, this.#binary(level + 1))
    }
  }

  #power(): number {
    const base = this.#unary()
    if (!this.#take('**')) return base
    if (++this.#depth > MAX_DEPTH) throw new NotKnown()
    const value = base ** this.#power()
    this.#depth--
    return value
  }

  #unary(): number {
    if (++this.#depth > MAX_DEPTH) throw new NotKnown()
    let value: number
    if (this.#take('-')) value = -this.#unary()
    else if (this.#take('+')) value = this.#unary()
    else if (this.#take('!')) value = this.#unary() === 0 ? 1 : 0
    else if (this.#take('~')) value = ~this.#unary()
    else value = this.#atom()
    this.#depth--
    return value
  }

  #atom(): number {
    const token = this.#tokens[this.#at++]
    if (token === undefined) throw new NotKnown()
    if (token === '(') {
      const value = this.ternary()
      if (!this.#take(')')) throw new NotKnown()
      return value
    }
    if (/^0[xX]/.test(token)) return Number.parseInt(token, 16)
    if (/^\d/.test(token)) return token.length > 1 && token[0] === '0' ? Number.parseInt(token, 8) : Number(token)
    const name = /^\$?\{?([A-Za-z_]\w*)\}?$/.exec(token)?.[1]
    const value = name === undefined ? undefined : this.#lookup(name)?.trim()
    if (value === undefined || !/^[-+]?\d+$/.test(value)) throw new NotKnown()
    return Number(value)
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false
    this.#at++
    return true
  }
}

function apply(operator: string, a: number, b: number): number {
  if (!Number.isSafeInteger(a) || !Number.isSafeInteger(b)) throw new NotKnown()
  if ((operator === '/' || operator === '%') && b === 0) throw new NotKnown()
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '/':
      return Math.trunc(a / b)
    case '%':
      return a % b
    case '<<':
      return a * 2 ** b
    case '>>':
      return Math.floor(a / 2 ** b)
    case '&':
      return Number(BigInt(a) & BigInt(b))
    case '|':
      return Number(BigInt(a) | BigInt(b))
    case '^':
      return Number(BigInt(a) ^ BigInt(b))
    case '&&':
      return a !== 0 && b !== 0 ? 1 : 0
    case '||':
      return a !== 0 || b !== 0 ? 1 : 0
    case '==':
      return a === b ? 1 : 0
    case '!=':
      return a !== b ? 1 : 0
    case '<':
      return a < b ? 1 : 0
    case '>':
      return a > b ? 1 : 0
    case '<=':
      return a <= b ? 1 : 0
    default:
      return a >= b ? 1 : 0
  }
}
