/** Which rows of a long list are drawn. */
export interface Shown {
  readonly first: number
  /** Behind the last one. */
  readonly end: number
}

/** Rows of one height: those in the viewport and some around them, so that a quick scroll shows no gap. */
export function shownRows(count: number, rowHeight: number, top: number, viewport: number, spare = 10): Shown {
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight)) - spare)
  const end = Math.min(count, Math.ceil((top + viewport) / rowHeight) + spare)
  return { first: Math.min(first, end), end }
}
