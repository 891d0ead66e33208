const EIGHTHS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

const LEAST_RANGE = 0.05

/** Values as a filled curve, one column each: `height` lines of text, the lowest value an eighth of a line high. */
export function curve(values: readonly number[], height = 1): string[] {
  const [low, high] = shownExtent(values)
  const most = height * 8
  const levels = values.map((value) => (high === low ? 1 : 1 + Math.round(((value - low) / (high - low)) * (most - 1))))
  return Array.from({ length: height }, (_, row) => {
    const below = (height - 1 - row) * 8
    return levels.map((level) => EIGHTHS[Math.min(8, Math.max(0, level - below))]).join('')
  })
}

/** What hardly changes looks that way: a range is no less than a part of the numbers in it. */
function shownExtent(values: readonly number[]): [low: number, high: number] {
  const [low, high] = extent(values)
  const missing = Math.max(Math.abs(low), Math.abs(high)) * LEAST_RANGE - (high - low)
  return missing > 0 && high > low ? [low - missing / 2, high + missing / 2] : [low, high]
}

export function extent(values: readonly number[]): [low: number, high: number] {
  return [
    values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
    values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
  ]
}
