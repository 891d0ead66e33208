import type { Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Started, StartedList } from '../../src/studio/api.js'
import { runs } from '../base/live.js'
import { go } from '../base/place.js'
import { get } from '../base/server.js'

/** Goes to the run as soon as it is there; a process that ends before says why. */
export function useFollow(to: Signal<Started | undefined>): void {
  const started = to.value
  const isThere =
    started !== undefined && runs.value?.some(({ id, changed }) => id === started.run && changed >= started.began)
  useEffect(() => {
    if (started !== undefined && isThere) go(['runs', started.run, 'charts'])
  }, [isThere])
  useEffect(() => {
    if (started === undefined || started.exit !== undefined) return
    const timer = setInterval(async () => {
      const list = await get<StartedList>('started').catch(() => undefined)
      const now = list?.started.find(({ pid }) => pid === started.pid)
      if (now !== undefined) to.value = now
    }, 700)
    return () => clearInterval(timer)
  }, [started?.pid, started?.exit])
}

export function StartedLine({ started: { pid, exit, output } }: { started: Started }) {
  return (
    <div class="wide started" role="status">
      <p class={exit === undefined ? 'muted' : 'bad'}>
        {exit === undefined
          ? `Process ${pid} has begun; its run appears in a moment.`
          : `Process ${pid} ended: ${exit}`}
      </p>
      {output.length > 0 && <pre>{output.slice(exit === undefined ? -3 : -20).join('\n')}</pre>}
    </div>
  )
}
