/**
 * Names that people read, for the ids of the objects: `apple_bar__minus_01_dot_20…` is `apple 2`. Numbers count down, so
 * that the first id in alphabetical order has the highest. Ids without a place stay as they are. They come in order.
 */
export function readableNames(sorted: readonly string[]): Map<string, string> {
  const left = new Map<string, number>()
  const kinds = sorted.map((id) => {
    const place = id.indexOf('_bar_')
    if (place < 0) return undefined
    const kind = signs(id.slice(0, place))
    return id.includes('basin') ? `${kind}basin` : kind
  })
  for (const kind of kinds) if (kind !== undefined) left.set(kind, (left.get(kind) ?? 0) + 1)
  return new Map(
    sorted.map((id, at) => {
      const kind = kinds[at]
      if (kind === undefined) return [id, `${signs(id)} `]
      const number = left.get(kind)!
      left.set(kind, number - 1)
      return [id, `${kind} ${number}`]
    }),
  )
}

const PARTS = [
  ['_minus_', '-'],
  ['_plus_', '+'],
  ['_dot_', '.'],
  ['_comma_', ','],
] as const

function signs(id: string): string {
  return id.includes('_') ? PARTS.reduce((text, [part, sign]) => text.replaceAll(part, sign), id) : id
}
