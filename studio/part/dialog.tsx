import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface Props {
  readonly title: string
  readonly isWide?: boolean
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** Something in front of everything else, until it is done with. */
export function Dialog({ title, isWide, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class={isWide ? 'is-wide' : ''} onClose={onClose} aria-label={title}>
      <h2>{title}</h2>
      {children}
      <button type="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  )
}
