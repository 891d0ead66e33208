import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Span, Timeline } from '../../src/studio/api.js'
import { clock, duration } from '../base/format.js'
import { painted } from '../base/theme.js'
import { secondsOf } from './lane-shares.js'
import { drawTimeline, HEAD, LABELS, LANE, labelOf, spanAt, TimeScale } from './timeline-drawing.js'

interface Props {
  readonly timeline: Timeline
  readonly onZoom: (from: number, to: number) => void
}

/** The drawing, and what the mouse does with it. The table below says the same to those who do not see it. */
export function Lanes({ timeline, onZoom }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const width = useSignal(0)
  const hovered = useSignal<Span | undefined>(undefined)
  const drag = useSignal<{ from: number; to: number } | undefined>(undefined)
  const scale = new TimeScale(timeline.from, timeline.to, Math.min(LABELS, width.value / 4), width.value - 8)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      width.value = entry.contentRect.width
    })
    observer.observe(canvas.current!.parentElement!)
    return () => observer.disconnect()
  }, [])
  const colors = painted.value
  useEffect(() => {
    if (width.value > 0) drawTimeline(canvas.current!, timeline, scale, width.value)
  }, [timeline, width.value, colors])

  const x = (event: MouseEvent) => event.clientX - canvas.current!.getBoundingClientRect().left
  const move = (event: MouseEvent) => {
    hovered.value = spanAt(timeline, scale, x(event), event.clientY - canvas.current!.getBoundingClientRect().top)
    if (drag.value !== undefined) drag.value = { ...drag.value, to: x(event) }
  }
  const drop = () => {
    const [left, right] = [drag.value?.from ?? 0, drag.value?.to ?? 0].sort((one, other) => one - other)
    drag.value = undefined
    if (right - left > 5) onZoom(scale.time(Math.max(left, scale.left)), scale.time(right))
  }
  const span = hovered.value
  return (
    <>
      <div class="lanes" style={{ height: `${HEAD + timeline.lanes.length * LANE + 1}px` }}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`Timeline of ${timeline.lanes.map(({ name }) => name).join(', ')}`}
          onMouseMove={move}
          onMouseDown={(event) => {
            drag.value = { from: x(event), to: x(event) }
          }}
          onMouseUp={drop}
          onMouseLeave={() => {
            hovered.value = undefined
            drag.value = undefined
          }}
        />
        {drag.value !== undefined && (
          <div
            class="lanes-drag"
            style={{
              left: `${Math.min(drag.value.from, drag.value.to)}px`,
              width: `${Math.abs(drag.value.to - drag.value.from)}px`,
            }}
          />
        )}
      </div>
      <p class="lanes-hover">
        {span === undefined ? (
          <span class="muted">Point at a bar for its times; drag to zoom.</span>
        ) : (
          <>
            <b>{labelOf(span)}</b> · {duration(secondsOf(span))} · {clock(span.begin)} to {clock(span.end)}
            {span.isEstimate && <span class="muted"> · placed by its length, begin not measured</span>}
          </>
        )}
      </p>
    </>
  )
}
