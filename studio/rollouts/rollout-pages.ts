import { useSignal } from '@preact/signals'
import { useCallback, useEffect, useRef } from 'preact/hooks'
import type { RolloutPage, RolloutQuery, RolloutRow } from '../../src/studio/api.js'
import { get, type Refusal, refusalOf, runPath } from '../base/server.js'

const PAGE = 200

/** Rows that fit a filter, page after page as one scrolls. */
export function useRolloutPages(id: string, filter: RolloutQuery) {
  const rows = useSignal<readonly RolloutRow[]>([])
  const isAll = useSignal(false)
  const problem = useSignal<Refusal | undefined>(undefined)
  const next = useRef<{ cursor?: string; abort?: AbortController }>({})
  const more = useCallback(async () => {
    if (next.current.abort !== undefined || isAll.peek()) return
    const abort = new AbortController()
    next.current.abort = abort
    const question = { ...filter, cursor: next.current.cursor, limit: PAGE }
    try {
      const page = await get<RolloutPage>(runPath(id, 'rollouts'), question, abort.signal)
      next.current = { cursor: page.next }
      isAll.value = page.next === undefined
      rows.value = [...rows.peek(), ...page.rows]
    } catch (error) {
      if (abort.signal.aborted) return
      isAll.value = true
      problem.value = refusalOf(error)
    }
  }, [])
  useEffect(() => () => next.current.abort?.abort(), [])
  return { rows, isAll, problem, more }
}
