/** An SVG path through the values; a gap lifts the pen. Its ends are the least and the greatest value. */
export function sparkPath(values: readonly (number | null)[], width: number, height: number): string {
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return ''
  const low = Math.min(...known)
  const span = Math.max(...known) - low || 1
  const y = (value: number) => (height - 2 - ((value - low) / span) * (height - 4)).toFixed(1)
  if (values.length === 1) return `M0 ${y(known[0])}H${width}`
  let isDown = false
  return values
    .map((value, index) => {
      if (value === null) {
        isDown = false
        return ''
      }
      const command = isDown ? 'L' : 'M'
      isDown = true
      return `${command}${((index / (values.length - 1)) * width).toFixed(1)} ${y(value)}`
    })
    .join('')
}
