import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Exported, ExportList } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { writes } from '../base/live.js'
import { runPath } from '../base/server.js'
import { Copy } from '../part/copy.js'

const OFTEN_MS = 700

/** Exports of a run, followed while one is under way. The server knows them: they are there again after a reload. */
export function useExports(run: string | undefined): { list?: ExportList; look: () => void } {
  const looks = useSignal(0)
  const path = run !== undefined && writes.value ? runPath(run, 'exports') : undefined
  const { answer: list } = useAsked<ExportList>(path, {}, looks.value).value
  const look = () => {
    looks.value++
  }
  const isBusy = list?.exports.some(isUnderWay) === true
  useEffect(() => {
    if (!isBusy) return
    const timer = setInterval(look, OFTEN_MS)
    return () => clearInterval(timer)
  }, [isBusy])
  return { list, look }
}

export const isUnderWay = ({ exit }: Exported) => exit === undefined

/** What became of each. */
export function Exports({ exports }: { exports: readonly Exported[] }) {
  if (exports.length === 0) return null
  return (
    <section class="exports" aria-label="Exports" aria-live="polite">
      {exports.map((one) => (
        <ExportLine key={one.began} made={one} />
      ))}
    </section>
  )
}

function ExportLine({ made }: { made: Exported }) {
  const { step, type, file, exit, output } = made
  const what = `Step ${step} as ${type}`
  if (isUnderWay(made))
    return (
      <p class="muted">
        {what} is being written. {output.at(-1)}
      </p>
    )
  if (exit === 'code 0')
    return (
      <p>
        {what} is in <Copy text={file} />
      </p>
    )
  return (
    <div class="started">
      <p class="bad">
        {what} was not written: {exit}
      </p>
      {output.length > 0 && <pre>{output.join('\n')}</pre>}
    </div>
  )
}
