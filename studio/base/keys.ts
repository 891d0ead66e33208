import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

/** Keys of the view that is open, in words, for the help. */
export interface KeyHelp {
  readonly keys: string
  readonly what: string
}

type Handlers = Readonly<Record<string, (event: KeyboardEvent) => void>>
const stack: { current: Handlers }[] = []
export const isHelpOpen = signal(false)

/** A box that was ticked, or a slider that was moved, keeps the focus, but nobody types into it. */
const TYPED = 'textarea, select, input:not([type="checkbox"], [type="radio"], [type="range"], [type="button"])'

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches(TYPED))

/** What Enter presses by itself while it has the focus. */
const isPressed = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement && target.matches('a[href], button, summary')

export function followKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    // an editor stands in a tree of its own, which hides from its events where they began
    const target = event.composedPath()[0] ?? null
    if (event.key === 'Escape') {
      isHelpOpen.value = false
      if (isTyping(target)) (target as HTMLElement).blur()
      return
    }
    if (isTyping(target) || (event.key === 'Enter' && isPressed(target))) return
    if (event.key === '?') {
      isHelpOpen.value = !isHelpOpen.value
      return
    }
    if (event.key === '/') {
      const search = document.querySelector<HTMLInputElement>('[data-search]')
      search?.focus()
      search?.select()
      if (search !== null) event.preventDefault()
      return
    }
    for (const { current } of [...stack].reverse()) {
      const handle = current[event.key]
      if (handle === undefined) continue
      event.preventDefault()
      // the next Enter is for what this key has selected
      if (isPressed(target)) target.blur()
      handle(event)
      return
    }
  })
}

/** Keys while a component is there; the innermost component wins. */
export function useKeys(handlers: Handlers): void {
  const held = useRef<{ current: Handlers } | undefined>(undefined)
  // while drawing, parents come before their children; their effects come after
  if (held.current === undefined) stack.push({ current: handlers })
  held.current ??= stack.at(-1)!
  held.current.current = handlers
  useEffect(
    () => () => {
      stack.splice(stack.indexOf(held.current!), 1)
    },
    [],
  )
}
