import type { Attempts, Extremes, RolloutPage, StoreList, TaskPage } from '../api.js'
import type { Part, Query } from '../part.js'
import { histogramOf, tasksOf } from './histogram.js'
import { rolloutOf } from './rollout.js'
import { type Filter, nextPlaces, type Order, placeOf, testOf } from './select.js'
import type { Shelf } from './shelf.js'
import type { OpenStore } from './stores.js'

const ORDERS = ['newest', 'oldest', 'best', 'worst'] as const
const TASK_ORDERS = ['attempts', 'best', 'worst', 'spread'] as const
/** Experiences whose texts are looked at together, and how long a page looks for a text before it is sent as it is. */
const TEXT_BATCH = 500
const TEXT_MS = 1000

/** Experiences of a run. */
export function rolloutParts(shelf: Shelf): Part[] {
  const storeOf = (query: Query, run: string) => shelf.get(run, query.needed('store'))
  const rowsAt = ({ source, columns }: OpenStore, places: readonly number[]) =>
    source.rows(places.map((at) => columns.keys[at]))
  return [
    {
      path: '/runs/:run/stores',
      answer: async (_, run): Promise<StoreList> => ({ stores: await shelf.list(run) }),
    },
    {
      path: '/runs/:run/rollouts',
      answer: async (query, run): Promise<RolloutPage> => {
        const store = await storeOf(query, run)
        const { columns } = store
        const test = testOf(columns, filterOf(query))
        const cursor = query.number('cursor')
        const wanted = {
          order: query.oneOf('order', ORDERS) ?? 'newest',
          after: cursor === undefined ? undefined : placeOf(columns, cursor),
          limit: query.count('limit', 1, 500, 50),
          text: query.text('text')?.toLowerCase(),
        }
        const { places, next } = await pageOf(store, test, wanted)
        const count = query.flag('count') && wanted.text === undefined ? countOf(columns.length, test) : undefined
        return { rows: await rowsAt(store, places), next: next === undefined ? undefined : String(next), count }
      },
    },
    {
      path: '/runs/:run/rollouts/histogram',
      answer: async (query, run) => {
        const store = await storeOf(query, run)
        const test = testOf(store.columns, filterOf(query))
        const places = placesOf(store.columns.length, test)
        const text = query.text('text')?.toLowerCase()
        const shown = text === undefined ? places : await withText(store, places, text)
        return histogramOf(store.columns, shown, query.count('bins', 1, 200, 40))
      },
    },
    {
      path: '/runs/:run/rollouts/extremes',
      answer: async (query, run): Promise<Extremes> => {
        const store = await storeOf(query, run)
        const step = query.neededNumber('step')
        const limit = query.count('limit', 1, 50, 5)
        const test = testOf(store.columns, { stepMin: step, stepMax: step })
        const of = (order: Order) => rowsAt(store, nextPlaces(store.columns, test, order, undefined, limit))
        return { step, best: await of('best'), worst: await of('worst') }
      },
    },
    {
      path: '/runs/:run/rollouts/tasks',
      answer: async (query, run): Promise<TaskPage> => {
        const { columns } = await storeOf(query, run)
        const all = tasksOf(columns, query.text('text') ?? '', query.oneOf('order', TASK_ORDERS))
        const offset = query.count('offset', 0, Number.MAX_SAFE_INTEGER, 0)
        const end = offset + query.count('limit', 1, 500, 50)
        return { tasks: all.slice(offset, end), isLast: end >= all.length }
      },
    },
    {
      path: '/runs/:run/rollouts/attempts',
      answer: async (query, run): Promise<Attempts> => {
        const store = await storeOf(query, run)
        const task = query.needed('task')
        const limit = query.count('limit', 1, 500, 200)
        const places = nextPlaces(store.columns, testOf(store.columns, { task }), 'oldest', undefined, limit + 1)
        return { task, rows: await rowsAt(store, places.slice(0, limit)), isAll: places.length <= limit }
      },
    },
    {
      path: '/runs/:run/rollout',
      answer: async (query, run) => {
        const { source } = await storeOf(query, run)
        const key = query.neededNumber('id')
        const experience = await source.read(key)
        const [row] = await source.rows([key])
        const { textOf, missing } = await shelf.texts(run)
        return rolloutOf(row, query.needed('store'), experience, textOf, missing)
      },
    },
  ]
}

function filterOf(query: Query): Filter {
  return {
    task: query.text('task'),
    stepMin: query.number('stepMin'),
    stepMax: query.number('stepMax'),
    versionMin: query.number('versionMin'),
    versionMax: query.number('versionMax'),
    rewardMin: query.number('rewardMin'),
    rewardMax: query.number('rewardMax'),
    failure: query.text('failure'),
  }
}

interface Wanted {
  readonly order: Order
  readonly after: number | undefined
  readonly limit: number
  readonly text?: string
}

/** Places to show, and the key behind which the next page begins. */
async function pageOf(
  store: OpenStore,
  test: (at: number) => boolean,
  { order, after, limit, text }: Wanted,
): Promise<{ places: number[]; next?: number }> {
  const { columns } = store
  if (text === undefined) {
    const places = nextPlaces(columns, test, order, after, limit + 1)
    const shown = places.slice(0, limit)
    return { places: shown, next: places.length > limit ? columns.keys[shown[limit - 1]] : undefined }
  }
  const found: number[] = []
  const begun = performance.now()
  for (let last = after; ; ) {
    const some = nextPlaces(columns, test, order, last, TEXT_BATCH)
    const fitting = await withText(store, some, text)
    const isLast = some.length < TEXT_BATCH
    if (found.length + fitting.length > limit) {
      found.push(...fitting.slice(0, limit - found.length))
      return { places: found, next: columns.keys[found[limit - 1]] }
    }
    found.push(...fitting)
    last = some.at(-1)
    if (isLast || last === undefined) return { places: found }
    if (performance.now() - begun > TEXT_MS) return { places: found, next: columns.keys[last] }
  }
}

async function withText({ source, columns }: OpenStore, places: readonly number[], text: string): Promise<number[]> {
  const found: number[] = []
  for (let from = 0; from < places.length; from += TEXT_BATCH) {
    const part = places.slice(from, from + TEXT_BATCH)
    const keys = new Set(
      await source.withText(
        part.map((at) => columns.keys[at]),
        text,
      ),
    )
    found.push(...part.filter((at) => keys.has(columns.keys[at])))
    await new Promise((resolve) => setImmediate(resolve))
  }
  return found
}

function placesOf(length: number, test: (at: number) => boolean): number[] {
  const places: number[] = []
  for (let at = 0; at < length; at++) if (test(at)) places.push(at)
  return places
}

function countOf(length: number, test: (at: number) => boolean): number {
  let count = 0
  for (let at = 0; at < length; at++) if (test(at)) count++
  return count
}
