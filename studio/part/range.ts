import type { ChartView } from './curve.js'

/** What of the horizontal axis is shown: the zoom, else everything. */
export function rangeOf({ from, to }: ChartView, low: number | null, high: number | null): [number, number] {
  const begin = from ?? low ?? 0
  const end = to ?? high ?? 1
  return end > begin ? [begin, end] : [begin - 0.5, begin + 0.5]
}

/** Some room above and below, but not below 0 where nothing is; a constant line is drawn in the middle, 0 at the bottom. */
export function spaced(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1]
  if (low === 0 && high === 0) return [0, 1]
  const room = high > low ? (high - low) * 0.08 : Math.abs(low) * 0.1
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room]
}
