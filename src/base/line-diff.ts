/** A line of two texts: in both, or in one of them, with where it stands there. */
export type DiffLine =
  | { readonly kind: 'same'; readonly text: string; readonly before: number; readonly after: number }
  | { readonly kind: 'gone'; readonly text: string; readonly before: number }
  | { readonly kind: 'new'; readonly text: string; readonly after: number }

/** How lines become others, with as many kept as possible; `keyOf` says when two are the same. */
export function lineDiff(
  before: readonly string[],
  after: readonly string[],
  keyOf: (line: string) => string = (line) => line,
): DiffLine[] {
  const [a, b] = [before.map(keyOf), after.map(keyOf)]
  const width = b.length + 1
  // longest[i, j]: lines that what follows i and j has in common
  const longest = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const [down, right] = [longest[(i + 1) * width + j], longest[i * width + j + 1]]
      longest[i * width + j] = a[i] === b[j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(down, right)
    }
  }
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: after[j], before: i++, after: j++ })
    } else if (j >= b.length || (i < a.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) {
      lines.push({ kind: 'gone', text: before[i], before: i++ })
    } else lines.push({ kind: 'new', text: after[j], after: j++ })
  }
  return lines
}

/** The lines that differ, each with so many around it; undefined stands for lines that are left out. */
export function hunks(lines: readonly DiffLine[], around = 2): (DiffLine | undefined)[] {
  const near = lines.map((_, i) =>
    lines.slice(Math.max(0, i - around), i + around + 1).some(({ kind }) => kind !== 'same'),
  )
  return lines
    .flatMap((line, i) => (near[i] ? [line] : near[i - 1] ? [undefined] : []))
    .filter((line, i, all) => line !== undefined || (i > 0 && i < all.length - 1))
}
