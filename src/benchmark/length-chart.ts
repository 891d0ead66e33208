import type { LengthTrial } from './length-search.js'

const SIZE = { width: 640, row: 26, left: 90, right: 150, top: 44 }
const COLORS = { trained: '#0072b2', memory: '#d55e00', time: '#e69f00' }
const WORDS = { trained: '', memory: ' (not enough)', time: ' (too long)' }

/** The memory that each length took, as bars; those that failed are in other colors. */
export function lengthSvg(trials: readonly LengthTrial[]): string {
  const { width, row, left, right, top } = SIZE
  const sorted = trials.toSorted((a, b) => a.length - b.length)
  const height = top + row * sorted.length + 12
  const gib = ({ peakBytes = 0 }: LengthTrial) => peakBytes / 2 ** 30
  const most = Math.max(...sorted.map(gib), Number.MIN_VALUE)
  const bars = sorted.map((trial, i) => {
    const wide = Math.round(((width - left - right) * gib(trial)) / most)
    const y = top + row * i
    return [
      `<text x="${left - 8}" y="${y + 15}" text-anchor="end">${trial.length}</text>`,
      `<rect x="${left}" y="${y + 2}" width="${wide}" height="${row - 8}" fill="${COLORS[trial.end]}"/>`,
      `<text x="${left + wide + 6}" y="${y + 15}">${gib(trial).toFixed(2)} GiB${WORDS[trial.end]}</text>`,
    ].join('\n')
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    '<title>main memory by length of the sequences</title>',
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="${left}" y="24" font-size="14">main memory by length of the sequences</text>`,
    ...bars,
    '</svg>\n',
  ].join('\n')
}
