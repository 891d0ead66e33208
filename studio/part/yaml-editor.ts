import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { foldGutter, foldKeymap, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorState, type Extension, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const colors = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: tags.comment, color: 'var(--muted)' },
])

const look = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '12.5px', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-gutters': { color: 'var(--muted)', backgroundColor: 'var(--surface)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { background: 'var(--soft)' },
  '.cm-panels': { color: 'var(--text)', backgroundColor: 'var(--raised)' },
  '.cm-panels input, .cm-panels button': { color: 'inherit', background: 'var(--surface)' },
  '.cm-foldPlaceholder': { color: 'var(--muted)', background: 'none', border: '1px solid var(--line)' },
  '.mark-error': { background: 'rgb(var(--down) / 12%)', boxShadow: 'inset 3px 0 var(--bad)' },
  '.mark-warning': { background: 'rgb(var(--heat) / 10%)', boxShadow: 'inset 3px 0 var(--warn)' },
  '.mark-error::after, .mark-warning::after': {
    content: 'attr(data-words)',
    paddingLeft: '2ch',
    color: 'var(--bad)',
    fontFamily: 'var(--sans)',
  },
  '.mark-warning::after': { color: 'var(--warn)' },
})

/** Something to say about a line. */
export interface LineMark {
  /** From 1. */
  readonly line: number
  readonly kind: 'error' | 'warning'
  readonly words: string
}

const setMarks = StateEffect.define<readonly LineMark[]>()

const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(old, { state, effects, changes }) {
    const told = effects.find((one) => one.is(setMarks))
    if (told === undefined) return old.map(changes)
    const builder = new RangeSetBuilder<Decoration>()
    const byLine = new Map(told.value.map((mark) => [mark.line, mark]))
    for (const [line, { kind, words }] of [...byLine].sort(([a], [b]) => a - b)) {
      if (line < 1 || line > state.doc.lines) continue
      const { from } = state.doc.line(line)
      builder.add(from, from, Decoration.line({ class: `mark-${kind}`, attributes: { 'data-words': words } }))
    }
    return builder.finish()
  },
  provide: (field) => EditorView.decorations.from(field),
})

export interface Editor {
  /** Changes what differs: the cursor and what can be undone stay. */
  setText(text: string): void
  setMarks(marks: readonly LineMark[]): void
  goTo(line: number): void
  close(): void
}

/** Shows a text that can be read and searched, not changed. */
export function openYaml(host: HTMLElement, text: string): () => void {
  const view = open(host, text, [EditorState.readOnly.of(true)])
  return () => view.destroy()
}

/** A text that can be changed. */
export function openEditor(host: HTMLElement, text: string, onText: (text: string) => void): Editor {
  let isOurs = false
  const tell = EditorView.updateListener.of((update) => {
    if (update.docChanged && !isOurs) onText(update.state.doc.toString())
  })
  const typing = [history(), keymap.of([...defaultKeymap, ...historyKeymap])]
  const view = open(host, text, [marks, typing, tell])
  return {
    setText(next) {
      const old = view.state.doc.toString()
      const change = difference(old, next)
      if (change === undefined) return
      isOurs = true
      view.dispatch({ changes: change })
      isOurs = false
    },
    setMarks: (list) => view.dispatch({ effects: setMarks.of(list) }),
    goTo(line) {
      const { from } = view.state.doc.line(Math.min(line, view.state.doc.lines))
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) })
      view.focus()
    },
    close: () => view.destroy(),
  }
}

/** What stands between the common beginning and the common end. */
function difference(old: string, next: string): { from: number; to: number; insert: string } | undefined {
  if (old === next) return undefined
  let from = 0
  while (from < old.length && from < next.length && old[from] === next[from]) from++
  let end = 0
  const most = Math.min(old.length, next.length) - from
  while (end < most && old[old.length - 1 - end] === next[next.length - 1 - end]) end++
  return { from, to: old.length - end, insert: next.slice(from, next.length - end) }
}

function open(host: HTMLElement, text: string, more: Extension): EditorView {
  // inside a shadow root the editor adopts style sheets; elsewhere it would write a <style>, which the page's policy forbids
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  return new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        [lineNumbers(), foldGutter(), yaml(), syntaxHighlighting(colors), look],
        [search({ top: true }), highlightSelectionMatches(), keymap.of([...searchKeymap, ...foldKeymap])],
        [EditorView.contentAttributes.of({ 'aria-label': 'configuration', tabindex: '0' }), more],
      ],
    }),
  })
}
