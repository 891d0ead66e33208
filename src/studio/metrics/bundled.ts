import type { Span } from '../api.js'

/**
 * Spans of a lane, where there are too many of them to draw: those of one kind that are too short, and lie in the same stretch of
 * time, become one that says how long they took together. No time is added and none is lost.
 */
export function bundled(spans: readonly Span[], from: number, to: number, most: number): Span[] {
  if (spans.length <= most) return [...spans]
  const stretch = (to - from) / most
  const bundles = new Map<string, Bundle>()
  const long: Span[] = []
  for (const span of spans) {
    if (span.end - span.begin >= stretch) {
      long.push(span)
      continue
    }
    const key = `${Math.floor((span.begin - from) / stretch)} ${span.kind}`
    const bundle = bundles.get(key)
    if (bundle === undefined)
      bundles.set(key, { longest: span, begin: span.begin, end: span.end, seconds: lengthOf(span), count: 1 })
    else add(bundle, span)
  }
  return [...long, ...[...bundles.values()].map(spanOf)].sort((a, b) => a.begin - b.begin)
}

interface Bundle {
  longest: Span
  begin: number
  end: number
  seconds: number
  count: number
}

function add(bundle: Bundle, span: Span): void {
  if (lengthOf(span) > lengthOf(bundle.longest)) bundle.longest = span
  bundle.begin = Math.min(bundle.begin, span.begin)
  bundle.end = Math.max(bundle.end, span.end)
  bundle.seconds += lengthOf(span)
  bundle.count++
}

function spanOf({ longest, begin, end, seconds, count }: Bundle): Span {
  return count === 1 ? longest : { ...longest, begin, end, seconds, merged: count }
}

const lengthOf = ({ begin, end }: Span) => end - begin
