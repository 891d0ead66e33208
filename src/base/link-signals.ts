import { setMaxListeners } from 'node:events'

/**
 * A signal that fires with the first of several. Unlike `AbortSignal.any` it is let go of when the work is done, so that
 * a signal that lives as long as the program does not gather the ones of every call.
 */
export function linkSignals(signals: readonly (AbortSignal | undefined)[]): {
  signal: AbortSignal
  release: () => void
  abort: (reason: unknown) => void
} {
  const control = manyListeners(new AbortController())
  const parents = signals.filter((signal) => signal !== undefined)
  const fire = (event: Event) => control.abort((event.target as AbortSignal).reason)
  for (const parent of parents) {
    if (parent.aborted) control.abort(parent.reason)
    else parent.addEventListener('abort', fire, { once: true })
  }
  const release = () => {
    for (const parent of parents) parent.removeEventListener('abort', fire)
  }
  return { signal: control.signal, release, abort: (reason) => control.abort(reason) }
}

/** Every call of every run listens: more than ten listeners are no leak here. */
export function manyListeners(control: AbortController): AbortController {
  setMaxListeners(0, control.signal)
  return control
}
