import { batch, signal } from '@preact/signals'
import type { Folder, MetricsRow, RunDetail, RunEvents, RunSummary } from '../../src/studio/api.js'
import { get, Refusal, address as urlOf } from './server.js'

/** What the server tells without being asked: one stream for the page, with more about the run that is open. */

export const runs = signal<readonly RunSummary[] | undefined>(undefined)
export const folders = signal<readonly Folder[]>([])
export const detail = signal<RunDetail | undefined>(undefined)
export const isLive = signal(false)
/** Runs can be written and started here. */
export const writes = signal(false)
/** File of the measurement that this Studio was started for. */
export const report = signal<string | undefined>(undefined)
export const trouble = signal<Refusal | undefined>(undefined)
/** Count up when something that a view has asked for is old. */
export const stale = {
  logs: signal(0),
  rollouts: signal(0),
  timeline: signal(0),
  config: signal(0),
}

export interface MetricsListener {
  rows(role: string, rows: readonly MetricsRow[]): void
  rewind(role: string, step: number | null): void
}
const listeners = new Set<MetricsListener>()
export function onMetrics(listener: MetricsListener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

let source: EventSource | undefined
let current: string | undefined

/** A tab that nobody looks at gives its connection back after a while: a browser has six for all tabs together. */
const HIDDEN_MS = 2000
let leaving: ReturnType<typeof setTimeout> | undefined

export function followVisibility(): void {
  document.addEventListener('visibilitychange', () => {
    clearTimeout(leaving)
    if (document.hidden) leaving = setTimeout(pause, HIDDEN_MS)
    else if (source === undefined) resume()
  })
}

function pause(): void {
  source?.close()
  source = undefined
  isLive.value = false
}

/** What happened meanwhile is asked for. */
function resume(): void {
  listen(current)
  for (const listener of listeners) listener.rewind('', null)
  for (const name of Object.keys(stale) as (keyof typeof stale)[]) stale[name].value++
}

/** Opens the stream, or opens it anew for another run. */
export function listen(run: string | undefined): void {
  if (source !== undefined && run === current) return
  source?.close()
  if (run !== current) detail.value = undefined
  current = run
  const stream = new EventSource(urlOf('events', { run }))
  source = stream
  const on = <Name extends keyof RunEvents>(name: Name, handle: (data: RunEvents[Name]) => void) =>
    stream.addEventListener(name, (event) => batch(() => handle(JSON.parse((event as MessageEvent).data))))

  stream.onopen = () => {
    isLive.value = true
    trouble.value = undefined
  }
  stream.onerror = () => {
    isLive.value = false
    // the stream says nothing about why: an ordinary question does
    get('session').catch((error: unknown) => {
      if (source === stream && error instanceof Refusal) trouble.value = error
    })
  }
  on('runs', (list) => {
    runs.value = list.runs
    folders.value = list.folders
  })
  on('changed', (change) => {
    runs.value = merged(runs.peek() ?? [], change.runs)
  })
  on('gone', ({ ids }) => {
    runs.value = runs.peek()?.filter(({ id }) => !ids.includes(id))
  })
  on('detail', (data) => {
    if (data.id === current) detail.value = data
  })
  on('metrics', ({ role, rows }) => {
    for (const listener of listeners) listener.rows(role, rows)
  })
  on('rewind', ({ role, step }) => {
    for (const listener of listeners) listener.rewind(role, step)
  })
  on('stale', ({ what }) => {
    for (const name of what) grow(name)
  })
}

/** A run that makes ten steps a second must not be asked ten times a second. */
const PATIENCE = 3000
const pending = new Set<keyof typeof stale>()

function grow(name: keyof typeof stale): void {
  if (pending.has(name)) return
  pending.add(name)
  setTimeout(() => {
    pending.delete(name)
    stale[name].value++
  }, PATIENCE)
}

/** Changed runs in their places, new ones first. */
export function merged(old: readonly RunSummary[], changed: readonly RunSummary[]): RunSummary[] {
  const byId = new Map(changed.map((run) => [run.id, run]))
  const kept = old.map((run) => {
    const next = byId.get(run.id)
    byId.delete(run.id)
    return next ?? run
  })
  return [...byId.values(), ...kept]
}
