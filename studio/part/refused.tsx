import type { Refusal } from '../base/server.js'

interface Props {
  readonly refusal: Refusal
  readonly isWide?: boolean
  /** A button beside it says what to do. */
  readonly hasHint?: boolean
}

/** Why something was not done, and apart from it what to do: the server ends neither with a full stop. */
export function Refused({ refusal: { message, hint }, isWide, hasHint = true }: Props) {
  return (
    <p class={isWide ? 'bad wide' : 'bad'} role="alert">
      {message}
      {hasHint && hint && <span class="muted"> · {hint}</span>}
    </p>
  )
}
