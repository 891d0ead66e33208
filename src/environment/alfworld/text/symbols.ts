import { broken } from './twl2.js'

/** What a text of the grammar is made of. */
export type TextPart =
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'rule'; readonly name: string }
  /** An expression, or a rule, once for each answer to a question; as a list, or one after the other. */
  | { readonly kind: 'each'; readonly of: Value; readonly given?: string; readonly isList: boolean }

export type Value = { readonly kind: 'rule'; readonly name: string } | { readonly kind: 'value'; readonly code: string }

const RULE = /#([\w()/!<>\-\s,.]+)#/y
const EACH = /\{(?:#([\w()/!<>\-\s,.]+)#|([^|[\]{}\n<>]+))(?:\s*\|\s*([^;|{}\n[\]#]+))?\}/y
const WORDS = /[^;|"<>[\]#{}]+/y

/**
 * Reads a text as the original's parser does: blanks at its start are dropped, and where it meets a character that it
 * does not understand, it ends.
 */
export function readSymbols(text: string): TextPart[] {
  const symbols: TextPart[] = []
  let at = /^\s*/.exec(text)![0].length
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) at = pattern.lastIndex
    return match
  }
  while (at < text.length) {
    const isList = text[at] === '['
    if (isList) at++
    const each = take(EACH)
    if (each) {
      const [, name, code, given] = each
      symbols.push({ kind: 'each', of: name ? { kind: 'rule', name } : { kind: 'value', code }, given, isList })
      if (!isList) continue
      if (text[at] !== ']') break
      at++
      continue
    }
    if (isList) break
    const rule = take(RULE)
    const words = rule ?? take(WORDS)
    if (rule) symbols.push({ kind: 'rule', name: rule[1] })
    else if (words) symbols.push({ kind: 'words', text: words[0] })
    else break
  }
  return symbols
}

/** A question: `predicate(name:type, …) & …`. */
export interface QueryAtom {
  readonly predicate: string
  readonly terms: readonly { readonly name: string; readonly type: string }[]
}

export function readQuery(text: string, path: string): QueryAtom[] {
  return text.split('&').map((part) => {
    const match = /^\s*([\w-]+)\s*\(([^()]*)\)\s*$/.exec(part)
    if (!match) throw broken(`the condition '${text.slice(0, 80)}' is not understood`, path)
    const terms = match[2].split(',').filter((term) => term.trim() !== '')
    return {
      predicate: match[1],
      terms: terms.map((term) => {
        const [name, type = name.replace(/'+$/, '')] = term.split(':').map((word) => word.trim())
        return { name, type }
      }),
    }
  })
}
