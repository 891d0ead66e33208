import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { address, get, type Refusal, refusalOf } from './server.js'

export interface Asked<Answer> {
  /** The last answer; stays while a new one is on its way, so that nothing jumps. */
  readonly answer?: Answer
  readonly problem?: Refusal
  readonly isAsking: boolean
}

/** An answer of the server that is asked again when the question changes, or when `again` does. undefined: nothing is asked. */
export function useAsked<Answer>(
  path: string | undefined,
  query: object = {},
  again: unknown = 0,
): ReadonlySignal<Asked<Answer>> {
  const asked = useSignal<Asked<Answer>>({ isAsking: path !== undefined })
  const question = path === undefined ? undefined : address(path, query)
  useEffect(() => {
    if (path === undefined) return
    const abort = new AbortController()
    asked.value = { ...asked.peek(), isAsking: true }
    get<Answer>(path, query, abort.signal).then(
      (answer) => {
        if (!abort.signal.aborted) asked.value = { answer, isAsking: false }
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        const problem = refusalOf(error)
        asked.value = { problem, isAsking: false }
      },
    )
    return () => abort.abort()
  }, [question, again])
  return asked
}
