import { evaluateArithmetic } from './arith.js'
import { expandText } from './expand.js'
import { plainText, type Token, type Word } from './lexer.js'
import { globToRegExp } from './pattern.js'
import { assumeUnset, type Variables } from './variables.js'

/** true, false, or undefined where only a run would tell (files, commands, values not known). */
export type Truth = boolean | undefined

export function not(truth: Truth): Truth {
  return truth === undefined ? undefined : !truth
}

/** `[ … ]`, `test …` and `[[ … ]]`, the brackets removed. */
export function evaluateTest(tokens: Token[], variables: Variables): Truth {
  const reader = new TestReader(tokens, variables)
  const truth = reader.or()
  return reader.done() ? truth : undefined
}

class TestReader {
  #at = 0
  #depth = 0
  readonly #tokens: Token[]
  readonly #variables: Variables

  constructor(tokens: Token[], variables: Variables) {
    this.#tokens = tokens.filter((token) => !(token.kind === 'op' && token.text === '\n'))
    this.#variables = variables
  }

  done(): boolean {
    return this.#at >= this.#tokens.length
  }

  or(): Truth {
    if (++this.#depth > 50) return undefined
    let left = this.#and()
    while (this.#take('||') || this.#take('-o')) {
      const right = this.#and()
      left = left === true || right === true ? true : left === undefined || right === undefined ? undefined : false
    }
    this.#depth--
    return left
  }

  #and(): Truth {
    let left = this.#unary()
    while (this.#take('&&') || this.#take('-a')) {
      const right = this.#unary()
      left = left === false || right === false ? false : left === undefined || right === undefined ? undefined : true
    }
    return left
  }

  #unary(): Truth {
    let negated = false
    while (this.#take('!')) negated = !negated
    const truth = this.#primary()
    return negated ? not(truth) : truth
  }

  #primary(): Truth {
    if (this.#take('(')) {
      const truth = this.or()
      this.#take(')')
      return truth
    }
    const operator = plainText(this.#tokens[this.#at])
    if (operator !== undefined && /^-[a-zA-Z]$/.test(operator) && this.#isOperand(this.#at + 1)) {
      this.#at++
      const word = this.#next()
      return this.#single(operator, word)
    }
    const left = this.#next()
    const comparison = plainText(this.#tokens[this.#at])
    if (comparison === undefined || !/^(==?|!=|=~|-(eq|ne|lt|le|gt|ge))$/.test(comparison)) {
      const text = this.#text(left)
      return text === undefined ? undefined : text !== ''
    }
    this.#at++
    return this.#compare(left, comparison, this.#next())
  }

  #single(operator: string, word: Word | undefined): Truth {
    const text = this.#text(word)
    if (operator === '-z') return text === undefined ? undefined : text === ''
    if (operator === '-n') return text === undefined ? undefined : text !== ''
    if (operator === '-v') return text === undefined ? undefined : this.#variables.get(text) !== undefined
    return undefined
  }

  #compare(leftWord: Word | undefined, operator: string, rightWord: Word | undefined): Truth {
    const left = this.#text(leftWord)
    const right = this.#text(rightWord)
    if (left === undefined || right === undefined) return undefined
    if (operator.startsWith('-')) {
      const a = evaluateArithmetic(left || '0', (name) => this.#variables.get(name))
      const b = evaluateArithmetic(right || '0', (name) => this.#variables.get(name))
      if (a === undefined || b === undefined) return undefined
      return { '-eq': a === b, '-ne': a !== b, '-lt': a < b, '-le': a <= b, '-gt': a > b, '-ge': a >= b }[operator]
    }
    if (operator === '=~') return undefined
    const quoted = rightWord?.parts.every((part) => part.quoted)
    const equal = quoted ? left === right : globToRegExp(right, { whole: true })?.test(left)
    return operator === '!=' ? not(equal) : equal
  }

  #text(word: Word | undefined): string | undefined {
    return word === undefined ? '' : assumeUnset(expandText(word, this.#variables))
  }

  #isOperand(at: number): boolean {
    return this.#tokens[at]?.kind === 'word'
  }

  #next(): Word | undefined {
    const token = this.#tokens[this.#at]
    if (token?.kind !== 'word') return undefined
    this.#at++
    return token
  }

  #take(text: string): boolean {
    const token = this.#tokens[this.#at]
    const found = token?.kind === 'op' ? token.text : plainText(token)
    if (found !== text) return false
    this.#at++
    return true
  }
}
