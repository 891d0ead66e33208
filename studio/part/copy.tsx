import { useSignal } from '@preact/signals'

/** A path or an id that one wants elsewhere. */
export function Copy({ text }: { text: string }) {
  const isDone = useSignal(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    isDone.value = true
    setTimeout(() => {
      isDone.value = false
    }, 1500)
  }
  return (
    <span class="copy">
      <code title={text}>{text}</code>
      <button type="button" class="quiet" onClick={copy} aria-label={`copy ${text}`}>
        {isDone.value ? 'copied' : 'copy'}
      </button>
    </span>
  )
}
