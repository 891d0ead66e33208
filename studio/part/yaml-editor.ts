import { yaml } from '@codemirror/lang-yaml'
import { foldGutter, foldKeymap, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorState } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
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
  '.cm-panels': { color: 'var(--text)', backgroundColor: 'var(--raised)' },
  '.cm-panels input, .cm-panels button': { color: 'inherit', background: 'var(--surface)' },
  '.cm-foldPlaceholder': { color: 'var(--muted)', background: 'none', border: '1px solid var(--line)' },
})

/** Shows a text that can be read and searched, not changed. */
export function openYaml(host: HTMLElement, text: string): () => void {
  // inside a shadow root the editor adopts style sheets; elsewhere it would write a <style>, which the page's policy forbids
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        [lineNumbers(), foldGutter(), yaml(), syntaxHighlighting(colors), look],
        [search({ top: true }), highlightSelectionMatches(), keymap.of([...searchKeymap, ...foldKeymap])],
        [
          EditorState.readOnly.of(true),
          EditorView.contentAttributes.of({ 'aria-label': 'configuration', tabindex: '0' }),
        ],
      ],
    }),
  })
  return () => view.destroy()
}
