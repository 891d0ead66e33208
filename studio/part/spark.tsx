import { sparkPath } from './spark-path.js'

/** A line as small as a word. Its ends are the least and the greatest value. */
export function Spark({ values, label }: { values: readonly (number | null)[]; label: string }) {
  return (
    <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <path d={sparkPath(values, 100, 24)} />
    </svg>
  )
}
