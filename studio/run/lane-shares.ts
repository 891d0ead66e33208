import type { Lane, Span } from '../../src/studio/api.js'

export const KINDS = ['work', 'sync', 'save', 'eval', 'other', 'wait'] as const satisfies readonly Span['kind'][]

export interface LaneShares {
  readonly lane: string
  /** Seconds of each kind inside the range. */
  readonly seconds: Readonly<Record<Span['kind'], number>>
  readonly total: number
  /** Whom or what it waited for, the longest first. */
  readonly waits: readonly { readonly label: string; readonly seconds: number }[]
}

/** How long a span took; of spans that were put together, all of them. */
export const secondsOf = ({ begin, end, seconds }: Span) => seconds ?? end - begin

/** Where the time of each lane went, between two moments. */
export function laneShares(lanes: readonly Lane[], from: number, to: number): LaneShares[] {
  return lanes.map(({ name, spans }) => {
    const seconds = { work: 0, wait: 0, sync: 0, save: 0, eval: 0, other: 0 }
    const waits = new Map<string, number>()
    for (const span of spans) {
      const { begin, end, kind, label } = span
      const inside = end > begin ? Math.max(0, Math.min(end, to) - Math.max(begin, from)) / (end - begin) : 0
      const took = inside * secondsOf(span)
      seconds[kind] += took
      if (kind === 'wait') waits.set(label, (waits.get(label) ?? 0) + took)
    }
    const longest = [...waits].sort(([, one], [, other]) => other - one)
    return { lane: name, seconds, total: to - from, waits: longest.map(([label, took]) => ({ label, seconds: took })) }
  })
}
