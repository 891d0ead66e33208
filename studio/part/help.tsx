import { useEffect, useRef } from 'preact/hooks'
import { isHelpOpen } from '../base/keys.js'

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'search, or filter'],
  ['j  k', 'next and previous row, rollout or tab'],
  ['Enter', 'open what is selected'],
  ['x', 'select a run to compare'],
  ['c', 'compare what is selected'],
  ['← →', 'previous and next token'],
  ['0', 'show everything: zoom out of all charts'],
  ['u', 'up: from a rollout to the table, from a run to all runs'],
  ['n  p', 'a new run, the playground'],
  ['t', 'light, dark, or as the system'],
  ['?', 'this help'],
]

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOpen = isHelpOpen.value
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen])
  const close = () => {
    isHelpOpen.value = false
  }
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split('  ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="muted">In charts: drag to zoom all of them, double click to show everything.</p>
      <button type="button" onClick={close}>
        Close
      </button>
    </dialog>
  )
}
