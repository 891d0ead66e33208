import type { TokenColumns } from '../../src/studio/api.js'

export const COLORINGS = ['logprob', 'entropy', 'advantage', 'mismatch', 'mask'] as const
export type Coloring = (typeof COLORINGS)[number]

export const COLORING_WORDS: Record<Coloring, { name: string; low: string; high: string }> = {
  logprob: { name: 'Log-prob', low: 'sure', high: 'surprising' },
  entropy: { name: 'Entropy', low: 'sure', high: 'undecided' },
  advantage: { name: 'Advantage', low: 'pushed down', high: 'pushed up' },
  mismatch: { name: 'Mismatch', low: 'less likely than to the sampler', high: 'more likely' },
  mask: { name: 'Mask', low: 'not trained on', high: 'trained on' },
}

/** Shades on each side: small enough for classes, fine enough for the eye. */
export const SHADES = 8

/**
 * The class of each response token. `h3`: the third of eight shades of more; `u3`, `d3`: up and down, for what has a sign.
 * `given`: not the model's. '': no color.
 */
export function tokenClasses(columns: TokenColumns, coloring: Coloring): string[] {
  if (coloring === 'mask') return columns.mask.map((mask) => (mask === 1 ? 'h3' : NOT_OURS))
  return colorsOf(columns, coloring).map((color, at) => (columns.mask[at] === 0 ? NOT_OURS : color))
}

/** What the model did not write: an observation, a tool's answer, the frame of a message. Its numbers mean nothing. */
const NOT_OURS = 'given'

function colorsOf(columns: TokenColumns, coloring: Exclude<Coloring, 'mask'>): string[] {
  const values = columns[coloring] ?? []
  // by the root: between sure and fairly sure lies most of what one looks for
  if (coloring === 'logprob')
    return values.map((value) => shade('h', value === null ? null : Math.sqrt(Math.max(0, -value) / 5)))
  if (coloring === 'entropy')
    return values.map((value) => shade('h', value === null ? null : Math.sqrt(Math.max(0, value) / 3)))
  const most = Math.max(1e-6, ...values.map((value) => Math.abs(value ?? 0)))
  return values.map((value) => shade((value ?? 0) >= 0 ? 'u' : 'd', value === null ? null : Math.abs(value) / most))
}

function shade(kind: string, share: number | null): string {
  if (share === null || Number.isNaN(share)) return ''
  const level = Math.min(SHADES, Math.round(Math.max(0, share) * SHADES))
  return level === 0 ? '' : `${kind}${level}`
}

export const availableColorings = (columns: TokenColumns) =>
  COLORINGS.filter((coloring) => coloring === 'mask' || columns[coloring] !== undefined)

/** What is shown for a token: spaces and line ends can be seen, and nothing is invisible. */
export function tokenText(text: string | undefined, id: number): string {
  if (text === undefined) return ` ${id}`
  if (text === '') return '·'
  return text.replaceAll('\t', '⇥').replaceAll('\n', '↵\n')
}
