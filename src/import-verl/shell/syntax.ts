import { type ArrayLiteral, type Heredoc, plainText, shellError, type Token, type Word } from './lexer.js'

/** The few shapes of shell code that matter for finding out which settings reach the launch command. */
export type Node =
  | { type: 'simple'; items: (Word | ArrayLiteral)[]; heredocs: Heredoc[]; line: number }
  | { type: 'test'; tokens: Token[]; line: number }
  | { type: 'arith'; body: string; line: number }
  | { type: 'chain'; left: Node; operator: '&&' | '||'; right: Node }
  | { type: 'not'; node: Node }
  | { type: 'pipe'; nodes: Node[] }
  | { type: 'list'; nodes: Node[] }
  | { type: 'subshell'; body: Node }
  | { type: 'if'; clauses: { condition: Node; body: Node }[]; otherwise?: Node; line: number }
  | { type: 'while'; until: boolean; condition: Node; body: Node; line: number }
  | { type: 'for'; name: string; words?: Word[]; body: Node; line: number }
  | { type: 'count'; head: string; body: Node; line: number }
  | { type: 'case'; word: Word; clauses: { patterns: Word[]; body: Node }[]; line: number }
  | { type: 'function'; name: string; body: Node }

const CLOSERS = new Set(['then', 'elif', 'else', 'fi', 'do', 'done', 'esac', '}'])
const MAX_DEPTH = 100

/** Tokens to a tree. Errors name the line; anything bash accepts and this does not know becomes a simple command. */
export function parseShell(tokens: Token[]): Node {
  const parser = new Parser(tokens)
  const tree = parser.list(() => false)
  const rest = parser.peek()
  if (rest !== undefined)
    throw shellError(`unexpected '${describe(rest)}'`, rest.line, 'check the quotes and the block it closes')
  return tree
}

class Parser {
  #at = 0
  #depth = 0
  readonly #tokens: Token[]

  constructor(tokens: Token[]) {
    this.#tokens = tokens
  }

  peek(ahead = 0): Token | undefined {
    return this.#tokens[this.#at + ahead]
  }

  list(ends: (token: Token) => boolean): Node {
    if (++this.#depth > MAX_DEPTH) throw shellError('blocks are nested over 100 deep', this.peek()?.line ?? 0)
    const nodes: Node[] = []
    for (;;) {
      const token = this.peek()
      if (token === undefined || ends(token)) break
      if (isOp(token, '\n', ';', '&')) this.#at++
      else if (CLOSERS.has(plainText(token) ?? '') || isOp(token, ')', ';;', ';&', ';;&')) break
      else nodes.push(this.#chain())
    }
    this.#depth--
    return { type: 'list', nodes }
  }

  #chain(): Node {
    let left = this.#pipe()
    for (;;) {
      const token = this.peek()
      if (!isOp(token, '&&', '||')) return left
      this.#at++
      this.#newlines()
      left = { type: 'chain', left, operator: token.text as '&&' | '||', right: this.#pipe() }
    }
  }

  #pipe(): Node {
    if (plainText(this.peek()) === '!') {
      this.#at++
      if (++this.#depth > MAX_DEPTH) throw shellError('over 100 negations', this.peek()?.line ?? 0)
      const node = this.#pipe()
      this.#depth--
      return { type: 'not', node }
    }
    const nodes = [this.#command()]
    while (isOp(this.peek(), '|', '|&')) {
      this.#at++
      this.#newlines()
      nodes.push(this.#command())
    }
    return nodes.length === 1 ? nodes[0] : { type: 'pipe', nodes }
  }

  #command(): Node {
    const token = this.peek()
    if (token === undefined) return { type: 'list', nodes: [] }
    const word = plainText(token)
    if (token.kind === 'arith') {
      this.#at++
      return { type: 'arith', body: token.body, line: token.line }
    }
    if (isOp(token, '(')) return { type: 'subshell', body: this.#block('(', ')') }
    if (word === '{') return this.#block('{', '}')
    if (word === 'if') return this.#if(token.line)
    if (word === 'while' || word === 'until') return this.#while(word === 'until', token.line)
    if (word === 'for' || word === 'select') return this.#for(token.line)
    if (word === 'case') return this.#case(token.line)
    if (word === '[[') return this.#test(token.line)
    if (word === 'function' || (word && isOp(this.peek(1), '(') && isOp(this.peek(2), ')'))) return this.#function(word)
    return this.#simple(token.line)
  }

  #simple(line: number): Node {
    const items: (Word | ArrayLiteral)[] = []
    const heredocs: Heredoc[] = []
    for (;;) {
      const token = this.peek()
      if (token?.kind === 'heredoc') heredocs.push(token)
      else if (token?.kind === 'word' || token?.kind === 'array') items.push(token)
      else if (isOp(token, '(') && items.length > 0) {
        throw shellError("unexpected '('", token.line, 'quote the brackets of a hydra value')
      } else break
      this.#at++
    }
    if (items.length === 0 && heredocs.length === 0) {
      const token = this.peek()
      throw shellError(`unexpected '${token ? describe(token) : 'end of the script'}'`, token?.line ?? line)
    }
    return { type: 'simple', items, heredocs, line }
  }

  #block(opening: string, closing: string): Node {
    const line = this.#expect(opening)
    const body = this.list((token) => is(token, closing))
    this.#expect(closing, line)
    this.#redirected()
    return body
  }

  #if(line: number): Node {
    const clauses: { condition: Node; body: Node }[] = []
    let otherwise: Node | undefined
    this.#at++
    for (;;) {
      const condition = this.list((token) => is(token, 'then'))
      this.#expect('then', line)
      clauses.push({ condition, body: this.list((token) => is(token, 'elif') || is(token, 'else') || is(token, 'fi')) })
      if (!is(this.peek(), 'elif')) break
      this.#at++
    }
    if (is(this.peek(), 'else')) {
      this.#at++
      otherwise = this.list((token) => is(token, 'fi'))
    }
    this.#expect('fi', line)
    this.#redirected()
    return { type: 'if', clauses, otherwise, line }
  }

  #while(until: boolean, line: number): Node {
    this.#at++
    const condition = this.list((token) => is(token, 'do'))
    return { type: 'while', until, condition, body: this.#doBody(line), line }
  }

  #for(line: number): Node {
    this.#at++
    const head = this.peek()
    if (head?.kind === 'arith') {
      this.#at++
      this.#newlines()
      return { type: 'count', head: head.body, body: this.#doBody(line), line }
    }
    const name = plainText(head) ?? ''
    this.#at++
    this.#newlines()
    let words: Word[] | undefined
    if (is(this.peek(), 'in')) {
      this.#at++
      words = []
      for (let token = this.peek(); token?.kind === 'word'; token = this.peek()) {
        words.push(token)
        this.#at++
      }
    }
    this.#newlines()
    return { type: 'for', name, words, body: this.#doBody(line), line }
  }

  #doBody(line: number): Node {
    this.#newlines()
    this.#expect('do', line)
    const body = this.list((token) => is(token, 'done'))
    this.#expect('done', line)
    this.#redirected()
    return body
  }

  #case(line: number): Node {
    this.#at++
    const word = this.peek()
    if (word?.kind !== 'word') throw shellError("'case' without a word", line)
    this.#at++
    this.#newlines()
    this.#expect('in', line)
    const clauses: { patterns: Word[]; body: Node }[] = []
    for (;;) {
      this.#newlines()
      if (isOp(this.peek(), '(')) this.#at++
      if (is(this.peek(), 'esac') || this.peek() === undefined) break
      const patterns: Word[] = []
      for (let token = this.peek(); token?.kind === 'word' || isOp(token, '|'); token = this.peek()) {
        if (token.kind === 'word') patterns.push(token)
        this.#at++
      }
      this.#expect(')', line)
      clauses.push({ patterns, body: this.list((token) => isOp(token, ';;', ';&', ';;&') || is(token, 'esac')) })
      if (isOp(this.peek(), ';;', ';&', ';;&')) this.#at++
    }
    this.#expect('esac', line)
    return { type: 'case', word, clauses, line }
  }

  #test(line: number): Node {
    this.#at++
    const tokens: Token[] = []
    for (;;) {
      const token = this.peek()
      if (token === undefined) throw shellError("'[[' is never closed", line, 'add the missing ]]')
      this.#at++
      if (is(token, ']]')) break
      tokens.push(token)
    }
    this.#redirected()
    return { type: 'test', tokens, line }
  }

  #function(word: string): Node {
    if (word === 'function') this.#at++
    const name = plainText(this.peek()) ?? ''
    this.#at++
    if (isOp(this.peek(), '(') && isOp(this.peek(1), ')')) this.#at += 2
    this.#newlines()
    return { type: 'function', name, body: this.#command() }
  }

  #newlines(): void {
    while (isOp(this.peek(), '\n', ';')) this.#at++
  }

  /** Here-documents after a block belong to it and hold no settings of ours. */
  #redirected(): void {
    while (this.peek()?.kind === 'heredoc') this.#at++
  }

  #expect(text: string, opened?: number): number {
    const token = this.peek()
    if (!is(token, text)) {
      const found = token ? `'${describe(token)}'` : 'the end of the script'
      throw shellError(
        `expected '${text}', found ${found}`,
        token?.line ?? opened ?? 0,
        opened ? `the block begins on line ${opened}` : undefined,
      )
    }
    this.#at++
    return token!.line
  }
}

function is(token: Token | undefined, text: string): boolean {
  return plainText(token) === text || isOp(token, text)
}

function isOp(token: Token | undefined, ...texts: string[]): token is { kind: 'op'; text: string; line: number } {
  return token?.kind === 'op' && texts.includes(token.text)
}

function describe(token: Token): string {
  if (token.kind === 'op') return token.text === '\n' ? 'end of line' : token.text
  return plainText(token) ?? token.kind
}
