import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { shownRows } from '../base/window.js'

interface Props {
  readonly count: number
  readonly rowHeight: number
  readonly label: string
  readonly row: (index: number) => ComponentChildren
  /** The last rows are near. */
  readonly onEnd?: () => void
  /** Stay at the end while rows are added there. */
  readonly isFollowing?: boolean
  readonly onLeaveEnd?: (isAtEnd: boolean) => void
  /** This row is kept in sight. */
  readonly selected?: number
}

/** Rows of one height, of which only those in sight exist. */
export function VirtualList(props: Props) {
  const { count, rowHeight, isFollowing, selected, onEnd } = props
  const host = useRef<HTMLDivElement>(null)
  const top = useSignal(0)
  const height = useSignal(600)
  useEffect(() => {
    if (host.current === null) return
    const observer = new ResizeObserver(([entry]) => {
      height.value = entry.contentRect.height
    })
    observer.observe(host.current)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (isFollowing && host.current !== null) host.current.scrollTop = host.current.scrollHeight
  }, [isFollowing, count])
  useEffect(() => {
    if (selected === undefined || host.current === null) return
    const begin = selected * rowHeight
    const { scrollTop, clientHeight } = host.current
    if (begin < scrollTop) host.current.scrollTop = begin
    else if (begin + rowHeight > scrollTop + clientHeight) host.current.scrollTop = begin + rowHeight - clientHeight
  }, [selected, rowHeight])

  const { first, end } = shownRows(count, rowHeight, top.value, height.value)
  const isNearEnd = end >= count
  useEffect(() => {
    if (isNearEnd) onEnd?.()
  }, [isNearEnd, count, onEnd])

  const scrolled = () => {
    const { scrollTop, clientHeight, scrollHeight } = host.current!
    top.value = scrollTop
    props.onLeaveEnd?.(scrollTop + clientHeight >= scrollHeight - rowHeight)
  }
  const rows = []
  for (let index = first; index < end; index++) rows.push(props.row(index))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section class="virtual" ref={host} onScroll={scrolled} tabIndex={0} aria-label={props.label}>
      <div class="virtual-all" style={{ height: `${count * rowHeight}px` }}>
        <div class="virtual-shown" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {rows}
        </div>
      </div>
    </section>
  )
}
