/** What a lane does: `wait` is time in which it has nothing to do. */
export const SPAN_KINDS = ['work', 'wait', 'sync', 'save', 'eval', 'other'] as const
export type SpanKind = (typeof SPAN_KINDS)[number]

/** One thing that one part of a run did, from when to when. */
export interface Span {
  /** `trainer`, `sampler 1`, … */
  readonly lane: string
  readonly kind: SpanKind
  readonly label: string
  /** Seconds since 1970. */
  readonly begin: number
  readonly seconds: number
  readonly step?: number
}

/** Takes note of what one part of a run does. `begun` and `ended` are readings of `performance.now()`; default: it ends now. */
export interface SpanLane {
  done(kind: SpanKind, label: string, begun: number, step?: number, ended?: number): void
}

/** Does something and notes how long it took, however it ends. */
export async function spanned<T>(
  lane: SpanLane | undefined,
  [kind, label, step]: readonly [kind: SpanKind, label: string, step?: number],
  work: () => Promise<T>,
): Promise<T> {
  const begun = performance.now()
  try {
    return await work()
  } finally {
    lane?.done(kind, label, begun, step)
  }
}
