import { listText } from '../python-text.js'

/** What a page lets one do. */
export interface Controls {
  readonly hasSearchBar: boolean
  /** In small letters. */
  readonly clickables: readonly string[]
}

export type Action =
  | { readonly kind: 'search'; readonly query: string }
  | { readonly kind: 'click'; readonly name: string }
  /** Text that does nothing on this page, and what to tell the one who said it. */
  | { readonly kind: 'invalid'; readonly why: string }

/** Reads `search[…]` or `click[…]`, in the light of the page. */
export function readAction(text: string, { hasSearchBar, clickables }: Controls): Action {
  const [name, argument] = parts(text)
  if (name === 'search') {
    if (argument === undefined) return invalid('Nothing to search for. Put it between the brackets of search[...].')
    if (hasSearchBar) return { kind: 'search', query: argument.toLowerCase() }
    return invalid('There is no search bar on this page. Click Back to Search first.')
  }
  if (name !== 'click') {
    return invalid('This is not an action. Answer <action>search[...]</action> or <action>click[...]</action>.')
  }
  const wanted = argument?.toLowerCase() ?? ''
  if (clickables.includes(wanted)) return { kind: 'click', name: wanted }
  return invalid(`There is no such button on this page. The buttons are: ${listText(clickables)}`)
}

/** What stands before the last bracket that opens, and between it and the last that closes. */
function parts(text: string): [name: string, argument?: string] {
  const end = text.indexOf('\n')
  const line = end < 0 ? text : text.slice(0, end)
  const close = line.lastIndexOf(']')
  const open = close < 2 ? -1 : line.lastIndexOf('[', close - 2)
  if (open < 1) return [text]
  // The name of a button may hold brackets itself.
  const at = line.startsWith('click[') && close > 6 ? 5 : open
  return [line.slice(0, at), line.slice(at + 1, close)]
}

/** The action that clicks a button; undefined: no text can. */
export function clickOn(name: string): string | undefined {
  const text = `click[${name}]`
  return readAction(text, { hasSearchBar: false, clickables: [name] }).kind === 'click' ? text : undefined
}

function invalid(why: string): Action {
  return { kind: 'invalid', why }
}
