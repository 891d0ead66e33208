import { isJsonObject } from '../../base/file/json-file.js'
import type { Conjunction } from './document.js'
import { listOf } from './keywords.js'

/** The values that every enum and const of some schemas names; undefined where there is none. */
export function valuesOf(all: Conjunction): unknown[] | undefined {
  const lists = all.flatMap((one) => [
    ...(one.schema.enum === undefined ? [] : [listOf(one, 'enum')!]),
    ...(one.schema.const === undefined ? [] : [[one.schema.const]]),
  ])
  if (lists.length === 0) return undefined
  const [first, ...others] = lists
  const known = others.map((list) => new Set(list.map(canonical)))
  return first.filter((value) => known.every((set) => set.has(canonical(value))))
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

/** A property that all must have is a constant, and no constant suits them all: how unions are mostly told apart. */
export function differByConstant(all: Conjunction): boolean {
  const names = new Set(all.flatMap(({ schema }) => (Array.isArray(schema.required) ? schema.required : [])))
  return [...names].some((name) => {
    const own = all.flatMap(({ schema, pointer }) => {
      const property = isJsonObject(schema.properties) ? schema.properties[name] : undefined
      return isJsonObject(property) ? [{ schema: property, pointer }] : []
    })
    return valuesOf(own)?.length === 0 && all.every(({ schema }) => schema.type === 'object')
  })
}
