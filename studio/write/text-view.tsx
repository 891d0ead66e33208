import { effect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Editor } from '../part/yaml-editor.js'
import { checked, setText, text } from './draft.js'

let editor: Editor | undefined

/** Shows a line to the person. */
export function showLine(line: number): void {
  editor?.goTo(line)
}

/** The configuration as YAML, with what is wrong at its lines. */
export function TextView() {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let stop: (() => void)[] = []
    let isGone = false
    void import('../part/yaml-editor.js').then(({ openEditor }) => {
      if (isGone) return
      const own = openEditor(host.current!, text.peek(), setText)
      editor = own
      stop = [
        effect(() => own.setText(text.value)),
        effect(() => {
          const marks = (checked.value?.problems ?? []).flatMap(({ line, severity, message }) =>
            line === undefined || severity === 'note' ? [] : [{ line, kind: severity, words: message }],
          )
          own.setMarks(marks)
        }),
        () => own.close(),
      ]
    })
    return () => {
      isGone = true
      for (const end of stop) end()
      editor = undefined
    }
  }, [])
  return <div class="yaml" ref={host} />
}
