import { useEffect, useRef } from 'preact/hooks'

/** YAML with folding, line numbers and search. The editor is a third of the page's bytes: it is loaded when it is shown. */
export function Yaml({ text }: { text: string }) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let close: (() => void) | undefined
    let isGone = false
    void import('./yaml-editor.js').then(({ openYaml }) => {
      if (!isGone) close = openYaml(host.current!, text)
    })
    return () => {
      isGone = true
      close?.()
    }
  }, [text])
  return <div class="yaml" ref={host} />
}
