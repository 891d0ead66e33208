import type { RunSummary } from '../../src/studio/api.js'

export const COLUMNS = ['state', 'name', 'progress', 'reward', 'first', 'best', 'last', 'changed'] as const
export type Column = (typeof COLUMNS)[number]
export interface Order {
  readonly by: Column
  readonly isDown: boolean
}

/** `-best` in an address: by best evaluation, greatest first. */
export function readOrder(text: string | undefined): Order {
  const isDown = text?.startsWith('-') ?? true
  const by = COLUMNS.find((name) => name === text?.replace(/^-/, ''))
  return by === undefined ? { by: 'changed', isDown: true } : { by, isDown }
}

export const writeOrder = ({ by, isDown }: Order) => (isDown ? `-${by}` : by)

const URGENCY = ['running', 'waiting', 'failed', 'broken', 'partial', 'stopped', 'finished']

function keyOf(run: RunSummary, by: Column): number | string | undefined {
  switch (by) {
    case 'state':
      return URGENCY.indexOf(run.state)
    case 'name':
      return run.name.toLowerCase()
    case 'progress':
      return run.progress.step / (run.progress.total ?? Math.max(1, run.progress.step))
    case 'reward':
      return run.spark?.last
    case 'changed':
      return run.changed
    default:
      return run.evaluation?.[by].score
  }
}

/** Sorted; runs without a value are last, whatever the direction. */
export function sorted(runs: readonly RunSummary[], { by, isDown }: Order): RunSummary[] {
  return [...runs].sort((one, other) => {
    const a = keyOf(one, by)
    const b = keyOf(other, by)
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
    const order = a < b ? -1 : a > b ? 1 : 0
    return isDown ? -order : order
  })
}

/** Runs in which every word of the search occurs somewhere. */
export function found(runs: readonly RunSummary[], search: string): readonly RunSummary[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return runs
  return runs.filter((run) => {
    const { name, path, state, algorithm, model, mode, engine, error, tags, problems } = run
    const text = [
      name,
      ...tags,
      path,
      state,
      algorithm,
      model,
      mode,
      engine?.trainer,
      engine?.sampler,
      error?.message,
      ...problems,
    ]
      .join('\n')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
