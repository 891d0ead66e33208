import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Makes its content when it comes near the screen: a page of 300 charts costs what one sees of it. */
export function Lazy({ class: name, children }: { class: string; children: () => ComponentChildren }) {
  const host = useRef<HTMLDivElement>(null)
  const isNear = useSignal(false)
  useEffect(() => {
    if (host.current === null) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        isNear.value = entry.isIntersecting
      },
      { rootMargin: '300px' },
    )
    observer.observe(host.current)
    return () => observer.disconnect()
  }, [])
  return (
    <div class={name} ref={host}>
      {isNear.value && children()}
    </div>
  )
}
