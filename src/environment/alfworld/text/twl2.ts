import { TrinityError } from '../../../base/error.js'
import { isJsonObject } from '../../../base/file/json-file.js'
import { parseJsonText } from '../../../base/json-text.js'

/** How an action is written as a command, and what is told when it is done. */
export interface Wording {
  readonly template: string
  readonly feedback: string
}

/** A way to write a symbol of the grammar, where its condition holds. */
export interface Alternative {
  readonly condition: string
  readonly text: string
}

/** The text side of a game, as its `.twl2` file says it. */
export interface Twl2 {
  readonly actions: ReadonlyMap<string, Wording>
  readonly rules: ReadonlyMap<string, readonly Alternative[]>
}

const TOKEN = /(?:\s|#[^\n]*)*("""[\s\S]*?"""|"[^"]*"|::|[{};]|[\w/-]+)/y

/** Words, marks and quoted texts, one after another. */
class Tokens {
  readonly #path: string
  readonly #all: string[] = []
  #at = 0

  constructor(text: string, path: string) {
    this.#path = path
    TOKEN.lastIndex = 0
    let end = 0
    for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
      this.#all.push(match[1])
      end = TOKEN.lastIndex
    }
    const rest = text
      .slice(end)
      .replace(/#[^\n]*/g, '')
      .trim()
    if (rest !== '') throw broken(`'${rest.slice(0, 40)}' is not understood`, path)
  }

  get isEmpty(): boolean {
    return this.#at >= this.#all.length
  }

  next(): string {
    if (this.isEmpty) throw broken('it ends too early', this.#path)
    return this.#all[this.#at++]
  }

  expect(mark: string): void {
    const token = this.next()
    if (token !== mark) throw broken(`'${mark}' is expected instead of '${token.slice(0, 40)}'`, this.#path)
  }

  /** `:: "text" ;` */
  value(): string {
    this.expect('::')
    const text = this.next()
    if (!text.startsWith('"')) throw broken(`a text in quotes is expected instead of '${text}'`, this.#path)
    this.expect(';')
    return text.startsWith('"""') ? text.slice(3, -3) : text.slice(1, -1)
  }
}

export function readTwl2(text: string, path: string): Twl2 {
  const tokens = new Tokens(text, path)
  const actions = new Map<string, Wording>()
  const rules = new Map<string, readonly Alternative[]>()
  while (!tokens.isEmpty) {
    const part = tokens.next()
    if (part === 'grammar') addRules(tokens.value(), rules, path)
    else if (part === 'action') {
      const name = tokens.next()
      const fields = new Map<string, string>()
      tokens.expect('{')
      for (let field = tokens.next(); field !== '}'; field = tokens.next()) fields.set(field, tokens.value())
      const [template, feedback] = [fields.get('template'), fields.get('feedback')]
      if (template === undefined || feedback === undefined) {
        throw broken(`action '${name}' has no template or no feedback`, path)
      }
      actions.set(name.toLowerCase(), { template, feedback })
      const own = fields.get('grammar')?.replace(/^[ \t]*#.*$/gm, '')
      if (own !== undefined) addRules(own, rules, path)
    } else throw broken(`'${part.slice(0, 40)}' is expected to be 'grammar' or 'action'`, path)
  }
  return { actions, rules }
}

/** A later rule of the same name replaces the earlier one. */
function addRules(json: string, rules: Map<string, readonly Alternative[]>, path: string): void {
  let data: unknown
  try {
    data = parseJsonText(json)
  } catch (cause) {
    throw broken(`a grammar is no JSON: ${(cause as Error).message}`, path)
  }
  if (!isJsonObject(data)) throw broken('a grammar is not an object of rules', path)
  for (const [name, list] of Object.entries(data)) {
    if (!Array.isArray(list)) throw broken(`the rule '${name}' is not a list`, path)
    rules.set(
      name,
      list.map((one) => {
        const { rhs, condition = '' } = isJsonObject(one) ? one : {}
        if (typeof rhs === 'string' && typeof condition === 'string') return { condition, text: rhs }
        throw broken(`the rule '${name}' has a part without 'rhs'`, path)
      }),
    )
  }
}

export function broken(what: string, path: string): TrinityError {
  return new TrinityError('environment/grammar', `cannot read the game's texts: ${what}`, { path })
}
