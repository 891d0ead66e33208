import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { get, runPath } from '../base/server.js'

/** The same question to several runs; undefined where there is no answer (yet). */
export function useEach<Answer>(ids: readonly string[], what: string): readonly (Answer | undefined)[] {
  const answers = useSignal<readonly (Answer | undefined)[]>([])
  const key = ids.join(' ')
  useEffect(() => {
    const abort = new AbortController()
    const ask = (id: string) => get<Answer>(runPath(id, what), {}, abort.signal).catch(() => undefined)
    void Promise.all(ids.map(ask)).then((all) => {
      if (!abort.signal.aborted) answers.value = all
    })
    return () => abort.abort()
  }, [key, what])
  return answers.value
}
