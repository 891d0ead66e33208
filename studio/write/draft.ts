import { computed, effect, signal } from '@preact/signals'
import type { CheckAnswer, Form, Place, SourceText } from '../../src/studio/api.js'
import { folders } from '../base/live.js'
import { get, post, type Refusal, refusalOf, runPath } from '../base/server.js'
import { fileBeside } from './file-beside.js'
import { trainingFrom } from './from-checkpoint.js'
import { type Path, type Tree, treeOf, type Value, without, withValue } from './yaml-text.js'

/** The run that is being written: one text, which form and editor both show and change. */

const KEY = 'trinity-studio-draft'
/** Typing goes on while a check is under way; so long after the last letter there is one. */
const PAUSE = 250

export const text = signal('')
/** Where it is from, in words. */
export const from = signal('')
export const notes = signal<readonly string[]>([])
/** Where it is, or will be saved. */
export const place = signal<Place | undefined>(undefined)
export const isSaved = signal(false)
export const form = signal<Form | undefined>(undefined)
export const checked = signal<CheckAnswer | undefined>(undefined)
/** The last plan that there was: a fault that somebody is about to mend does not take it away. */
export const planned = signal<CheckAnswer['stages']>(undefined)
export const isChecking = signal(false)
export const problem = signal<Refusal | undefined>(undefined)

const parsed = computed(() => treeOf(text.value))
/** The form cannot be filled in while the text is no YAML: it shows what was there before. */
export const isBroken = computed(() => parsed.value === undefined)
let last: { readonly [key: string]: Tree } = {}
export const tree = computed(() => {
  last = parsed.value ?? last
  return last
})

/** Its place, or the one that its name suggests. */
export const target = computed((): Place => {
  const { folder, path } = place.value ?? {}
  const words = [tree.value.project, tree.value.name].filter((one) => typeof one === 'string' && /^[\w.-]+$/.test(one))
  return { folder: folder ?? folders.value[0]?.path ?? '', path: path ?? `${words.join('-') || 'run'}.yaml` }
})

export function setText(next: string): void {
  if (next === text.peek()) return
  text.value = next
  isSaved.value = false
}

export function setValue(path: Path, value: Value): void {
  setText(withValue(text.peek(), path, value))
}

export function removeValue(path: Path): void {
  setText(without(text.peek(), path))
}

/** Begins with another text. */
export function begin(source: SourceText): void {
  text.value = source.text
  from.value = source.from
  notes.value = source.notes
  place.value = source.place
  planned.value = undefined
  isSaved.value = source.place !== undefined
}

export const beginWith = {
  template: async (name: string) => begin(await get<SourceText>('template', { name })),
  file: async (at: Place) => begin(await get<SourceText>('file', at)),
  run: async (id: string) => begin(await get<SourceText>(runPath(id, 'source'))),
  /** Under another name, in another file. */
  copy: async (id: string) => {
    const source = await get<SourceText>(runPath(id, 'source'))
    begin({ ...source, place: undefined })
    const { name } = tree.peek()
    setValue(['name'], `${typeof name === 'string' ? name : 'run'}-copy`)
  },
  /** The run under another name, with the weights of one of its checkpoints to begin with. */
  checkpoint: async (id: string, name: string, model: string) => {
    const source = await get<SourceText>(runPath(id, 'source'))
    begin({ ...source, text: trainingFrom(source.text, { name, model }), place: undefined })
    if (source.place !== undefined) place.value = fileBeside(source, '', name)
  },
  verl: async (script: string) => begin(await post<SourceText>('import-verl', { text: script })),
  nothing: async () => begin({ text: EMPTY, from: 'nothing', notes: [] }),
}

const EMPTY = `mode: both
project: my-project
name: my-run
algorithm:
  algorithm_type: grpo
`

/** Loads the form, and checks the text whenever it changes, until the page is left. */
export function follow(): () => void {
  restore()
  if (form.peek() === undefined)
    get<Form>('form').then(
      (answer) => {
        form.value = answer
      },
      (error: unknown) => {
        problem.value = refusalOf(error)
      },
    )
  let timer: ReturnType<typeof setTimeout> | undefined
  let abort = new AbortController()
  const stop = effect(() => {
    const query = { text: text.value, place: target.value }
    sessionStorage.setItem(KEY, JSON.stringify({ text: query.text, place: place.value, from: from.value }))
    clearTimeout(timer)
    abort.abort()
    if (query.text.trim() === '') {
      checked.value = undefined
      return
    }
    abort = new AbortController()
    const { signal } = abort
    isChecking.value = true
    timer = setTimeout(() => {
      post<CheckAnswer>('check', query, signal).then(
        (answer) => {
          if (signal.aborted) return
          checked.value = answer
          planned.value = answer.stages ?? planned.peek()
          problem.value = undefined
          isChecking.value = false
        },
        (error: unknown) => {
          if (signal.aborted) return
          isChecking.value = false
          problem.value = refusalOf(error)
        },
      )
    }, PAUSE)
  })
  return () => {
    stop()
    clearTimeout(timer)
    abort.abort()
  }
}

/** What was written before a reload. */
function restore(): void {
  const kept = sessionStorage.getItem(KEY)
  if (text.peek() !== '' || kept === null) return
  const { text: old, place: where, from: whence } = JSON.parse(kept)
  text.value = old
  place.value = where
  from.value = whence
}
