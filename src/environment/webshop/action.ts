import { listText } from './python-text.js'

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
  const [, name = text, argument = ''] = /^([^\n]+)\[([^\n]+)\]/.exec(text) ?? []
  if (name === 'search') {
    if (argument === '')
      return invalid('The search is empty. Put what you look for between the brackets of search[...].')
    if (hasSearchBar) return { kind: 'search', query: argument.toLowerCase() }
    return invalid('There is no search bar on this page. Click Back to Search first.')
  }
  // The name of a button may hold brackets itself, which the pattern above takes for those of the action.
  const button = name === 'click' ? argument : /^click\[([^\n]+)\]/.exec(text)?.[1]
  if (button === undefined) {
    return invalid('This is not an action. Answer <action>search[...]</action> or <action>click[...]</action>.')
  }
  const wanted = button.toLowerCase()
  if (clickables.includes(wanted)) return { kind: 'click', name: wanted }
  return invalid(`There is no such button on this page. The buttons are: ${listText(clickables)}`)
}

/** The action that clicks a button; undefined: no text can. */
export function clickOn(name: string): string | undefined {
  const text = `click[${name}]`
  return readAction(text, { hasSearchBar: false, clickables: [name] }).kind === 'click' ? text : undefined
}

function invalid(why: string): Action {
  return { kind: 'invalid', why }
}
